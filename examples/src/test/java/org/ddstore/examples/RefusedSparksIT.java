// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real ones that the runtime jar does not run on: it says so, where else a method is missing. */
@Tag("system")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class RefusedSparksIT {
  private static final String MAIN = "org.ddstore.cli.Main";

  @TempDir private Path work;

  @Test
  @Tag("slow")
  void commandLineRejectsAnotherScala() throws IOException, InterruptedException {
    SparkHome spark = SparkHome.other("3.5", "2.12");

    Program program = submit(spark, MAIN, SparkHome.CLI_JAR, "demo", "--rows", "10");

    assertRefused(program, "this is Spark %s on Scala 2.12.".formatted(spark.name()));
    assertThat(program.err()).contains("ddstore: no store can run on this Spark:");
  }

  @Test
  @Tag("slow")
  void programRejectsAnotherScala() throws IOException, InterruptedException {
    SparkHome spark = SparkHome.other("3.5", "2.12");

    Program program =
        submit(
            spark,
            QuickStart.class.getName(),
            SparkHome.EXAMPLES_JAR,
            SampleRows.path(),
            SampleRows.COLUMN);

    assertRefused(program, "this is Spark %s on Scala 2.12.".formatted(spark.name()));
    assertThat(program.err()).contains("use Spark 3.5 to 4.3 for Scala 2.13");
  }

  /** Its session connects when something runs, so it needs no server to make a DataFrame. */
  @Test
  @Tag("slow")
  void rejectsADataFrameOfSparkConnect() throws IOException, InterruptedException {
    SparkHome client = SparkHome.connectClient();
    Path classes =
        Path.of(ConnectProgram.class.getProtectionDomain().getCodeSource().getLocation().getPath());

    Program program =
        Program.run(
            work,
            client.program(
                work,
                client.classPath(classes, SparkHome.RUNTIME_JAR),
                List.of(ConnectProgram.class.getName())));

    assertRefused(program, "org.apache.spark.sql.connect.Dataset belongs to Spark Connect");
  }

  @Test
  void commandLineRejectsASparkConnectServer() throws IOException, InterruptedException {
    Program program =
        Program.submit(
            SparkHome.current(),
            work,
            List.of(
                "--remote",
                "sc://127.0.0.1:9",
                "--class",
                MAIN,
                "--jars",
                SparkHome.RUNTIME_JAR.toString(),
                SparkHome.CLI_JAR.toString(),
                "doctor"));

    assertRefused(
        program, "system property spark.remote is sc://127.0.0.1:9, a server of Spark Connect");
  }

  @Test
  void commandLineReportsMissingSpark() throws IOException, InterruptedException {
    SparkHome spark = SparkHome.current();

    Program program =
        Program.run(
            work,
            spark.program(
                work, SparkHome.RUNTIME_JAR + ":" + SparkHome.CLI_JAR, List.of(MAIN, "doctor")));

    assertRefused(program, "no spark-core on the class path");
  }

  private Program submit(SparkHome spark, String mainClass, Path jar, String... arguments)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>(List.of("--master", "local[2]", "--class", mainClass));
    all.addAll(List.of("--jars", SparkHome.RUNTIME_JAR.toString(), jar.toString()));
    all.addAll(List.of(arguments));
    return Program.submit(spark, work, all);
  }

  private static void assertRefused(Program program, String found) {
    assertThat(program.exitCode()).as(program.err()).isEqualTo(1);
    assertThat(program.err()).contains("\n- " + found);
    assertThat(program.err())
        .doesNotContain("NoSuchMethodError", "NoClassDefFoundError", "ClassCastException");
  }
}
