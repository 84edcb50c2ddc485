// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

/** The code that comes before the first cell. */
final class Prelude {
  /** The variable with the session of Spark. */
  static final String SESSION = "spark";

  static final String SOURCE =
      """
      import java.nio.file.*;
      import java.time.*;
      import java.util.*;
      import java.util.stream.*;
      import org.apache.spark.sql.*;
      import static org.apache.spark.sql.functions.*;
      import org.ddstore.*;
      import org.ddstore.checkpoint.*;
      import org.ddstore.collective.*;
      import org.ddstore.loader.*;
      import org.ddstore.sampling.*;
      import org.ddstore.spark.*;
      import org.ddstore.spark.types.*;
      import org.ddstore.types.*;
      import org.knowm.xchart.*;
      import static org.ddstore.notebook.Notebook.display;
      SparkSession spark;
      """;

  private Prelude() {}
}
