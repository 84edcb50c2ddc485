// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.util.List;

/**
 * A class data archive of libraries, for the JVMs of {@link ChildJvm}. A service: the tests of a
 * module whose libraries take long to load provide one.
 */
public interface ClassArchive {
  String classPath();

  List<String> javaOptions();
}
