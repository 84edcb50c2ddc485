// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

/** The pages outside of the guide. */
class ProjectBlocksIT extends PageBlocksContract {
  @Override
  boolean covers(String path) {
    return !path.startsWith(GUIDE);
  }
}
