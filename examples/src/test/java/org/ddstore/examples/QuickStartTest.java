// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuickStartTest {
  @TempDir Path directory;

  private static SparkSession session() {
    return SparkSession.builder()
        .master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate();
  }

  @Test
  void sampleMeansAreNearTheMean() throws IOException {
    try (SparkSession spark = session()) {
      String path = directory.resolve("rows").toString();
      spark.range(1000).selectExpr("float(id) as x").write().parquet(path);

      List<Double> means = QuickStart.means(spark.read().parquet(path), "x");

      assertThat(means).hasSize(2).allSatisfy(m -> assertThat(m).isCloseTo(499.5, within(10.0)));
    }
  }

  /** The compiler sees what a reader sees, and the class path of the runtime jar. */
  @Test
  void theJavaOfTheReadmeRunsAsShown() throws Exception {
    Path readme = Path.of(System.getProperty("ddstore.root"), "README.md");
    Matcher block = Pattern.compile("(?s)```java\n(.*?)```").matcher(Files.readString(readme));
    assertThat(block.find()).isTrue();
    Path source = Files.writeString(directory.resolve("RandomMeans.java"), block.group(1));
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                directory.toString(),
                source.toString());
    assertThat(status).as("status of javac").isZero();

    ClassLoader own = Thread.currentThread().getContextClassLoader();
    try (URLClassLoader compiled = new URLClassLoader(new URL[] {directory.toUri().toURL()}, own)) {
      Thread.currentThread().setContextClassLoader(compiled); // that of the tasks
      try (SparkSession spark = session()) {
        Method means =
            compiled
                .loadClass("RandomMeans")
                .getDeclaredMethod("of", Dataset.class, String.class, int.class);
        means.setAccessible(true);
        Object result =
            means.invoke(null, spark.range(1000).selectExpr("float(id) as x"), "x", 10_000);
        assertThat((List<?>) result)
            .hasSize(2)
            .allSatisfy(mean -> assertThat((Double) mean).isCloseTo(499.5, within(10.0)));
      }
    } finally {
      Thread.currentThread().setContextClassLoader(own);
    }
  }
}
