// SPDX-License-Identifier: Apache-2.0
package org.ddstore.collective;

/** Processes whose lanes all travel by message. */
class MessagesJvmsTest extends GroupJvmsContract {
  MessagesJvmsTest() {
    super(Means.Kind.MESSAGES);
  }
}
