// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rows under the TLS of Spark's own settings, which came with Spark 4.0 and is found by name. */
@Tag("slow")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class TlsIT {
  private static final String PASSWORD = "not-a-secret";

  @TempDir private static Path data;

  @TempDir private Path work;

  @BeforeAll
  static void writeKeys() throws IOException, InterruptedException {
    Process keys =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keystore",
                keyStore(),
                "-storepass",
                PASSWORD,
                "-alias",
                "ddstore",
                "-keyalg",
                "RSA",
                "-dname",
                "CN=ddstore")
            .inheritIO()
            .start();
    assertThat(keys.waitFor()).as("exit status of keytool").isZero();
  }

  private static String keyStore() {
    return data.resolve("keys.p12").toString();
  }

  @Test
  void sendsRowsOverTls() throws IOException, InterruptedException {
    Program program =
        submit(
            SparkHome.other("4.0", "2.13"),
            2,
            "demo",
            "--input",
            SampleRows.path(),
            "--transport",
            "tcp",
            "--no-shortcut",
            "--seconds",
            "0.2");

    assertThat(program.assertSuccess().out()).contains("Checked  0 mismatches");
  }

  @Test
  void doctorReportsTls() throws IOException, InterruptedException {
    Program program = submit(SparkHome.current(), 1, "doctor");

    assertThat(program.assertSuccess().out()).containsPattern("(?m)tcp +yes .*, TLS$");
  }

  /** Spark 3.5 ignores these settings, and sends in the clear. */
  @Test
  void doctorRejectsTcpIfSparkHasNoTls() throws IOException, InterruptedException {
    Program program = submit(SparkHome.other("3.5", "2.13"), 1, "doctor");

    assertThat(program.assertSuccess().out())
        .containsPattern("tcp +no .*spark.ssl.rpc.enabled is true, but\\s+Spark 3.5");
  }

  private Program submit(SparkHome spark, int executors, String... command)
      throws IOException, InterruptedException {
    List<String> all =
        new ArrayList<>(List.of("--master", "local-cluster[%d,1,1024]".formatted(executors)));
    for (String setting :
        List.of(
            "spark.authenticate=true",
            "spark.authenticate.secret=" + PASSWORD,
            "spark.ssl.rpc.enabled=true",
            "spark.ssl.rpc.protocol=TLSv1.3",
            "spark.ssl.rpc.keyStore=" + keyStore(),
            "spark.ssl.rpc.keyStorePassword=" + PASSWORD,
            "spark.ssl.rpc.keyPassword=" + PASSWORD,
            "spark.ssl.rpc.trustStore=" + keyStore(),
            "spark.ssl.rpc.trustStorePassword=" + PASSWORD)) {
      all.addAll(List.of("--conf", setting));
    }
    all.addAll(List.of("--class", "org.ddstore.cli.Main"));
    all.addAll(List.of("--jars", SparkHome.RUNTIME_JAR.toString(), SparkHome.CLI_JAR.toString()));
    all.addAll(List.of(command));
    return Program.submit(spark, work, all);
  }
}
