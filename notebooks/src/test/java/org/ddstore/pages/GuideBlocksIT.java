// SPDX-License-Identifier: Apache-2.0
package org.ddstore.pages;

/** The pages of the guide. */
class GuideBlocksIT extends PageBlocksContract {
  @Override
  boolean covers(String path) {
    return path.startsWith(GUIDE);
  }
}
