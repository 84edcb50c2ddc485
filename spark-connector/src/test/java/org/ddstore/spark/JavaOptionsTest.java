// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Test;

/** The launcher cannot ask Spark for its Java options, so it has a copy, which must not age. */
class JavaOptionsTest {

  /** Serves MLlib's linear algebra only, and makes the JVM print a warning at every start. */
  private static final String LEFT_OUT = "--add-modules=jdk.incubator.vector";

  @Test
  void launcherPassesTheJavaOptionsOfSpark() throws IOException {
    Path file =
        Path.of(System.getProperty("ddstore.root"), "spark-connector/src/main/launcher")
            .resolve("java-options");
    List<String> needed = new ArrayList<>(List.of(JavaModuleOptions.defaultModuleOptionArray()));
    needed.remove(LEFT_OUT);

    assertThat(Files.readAllLines(file)).as("options in %s", file).containsAll(needed);
  }
}
