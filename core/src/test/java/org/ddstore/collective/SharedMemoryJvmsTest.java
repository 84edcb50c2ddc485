// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

/** Processes of one host. */
class SharedMemoryJvmsTest extends GroupJvmsContract {
  SharedMemoryJvmsTest() {
    super(Means.Kind.FILES);
  }
}
