// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.util.List;

/**
 * A class data archive of libraries, for the JVMs of {@link ChildJvm}. A service: the tests of a
 * module whose libraries take long to load provide one.
 */
public interface ClassArchive {
  /** Returns the class path of this JVM in an order that the archive fits. */
  String classPath();

  /** Returns the options of a JVM that maps the archive; none if there is no archive. */
  List<String> javaOptions();
}
