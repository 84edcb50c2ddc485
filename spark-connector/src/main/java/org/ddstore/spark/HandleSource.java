// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.io.IOException;
import java.nio.file.Path;

/** The maker of the handles of one grant, in the driver. */
interface HandleSource {
  /** Returns a handle of the present state of the store, for processes outside of Spark. */
  StoreHandle now();

  /** Writes the present handle to a file, now and after each change of the store. */
  void follow(Path path) throws IOException;
}
