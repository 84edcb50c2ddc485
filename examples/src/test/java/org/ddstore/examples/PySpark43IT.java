// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The tests of {@link PySparkIT} with the newest release, and one store with others. The names of
 * the two classes are in different halves of the slow tests.
 */
@Tag("system")
@Tag("slow")
@Timeout(value = 1200, unit = TimeUnit.SECONDS)
class PySpark43IT {
  private static final Path PAGE = PySpark.ROOT.resolve("docs/pyspark.md");
  private static final Duration LIMIT = Duration.ofMinutes(15);

  @TempDir private Path work;

  @ParameterizedTest
  @ValueSource(strings = {"ClassicTest", "ConnectTest"})
  void storesAndRanks(String tests) throws IOException, InterruptedException {
    Program program =
        Program.run(
                work, PySpark.NEXT.program(work, "-m", "unittest", "test_spark." + tests), LIMIT)
            .assertSuccess();

    assertThat(program.err()).contains("OK").doesNotContain("skipped=");
  }

  /** Release 3.5 is refused in one line. */
  @ParameterizedTest
  @ValueSource(strings = {"4.1", "4.0", "3.5"})
  void oneStore(String release) throws IOException, InterruptedException {
    PySpark spark = new PySpark("requirements-%s.lock".formatted(release));
    String file = PySpark.ROOT.resolve("python/tests/one_store.py").toString();

    Program program = Program.run(work, spark.program(work, file), LIMIT).assertSuccess();

    String refused = "RuntimeError: PySpark 3.5.9: ddstore.spark needs 4.0 or later";
    assertThat(program.lastLine())
        .startsWith(release.equals("3.5") ? refused : "[(0, 1000), (1, 1000)]");
  }

  /** The commands of the page, with a wheel and a repository like those that its others make. */
  @Test
  void packages() throws IOException, InterruptedException {
    List<String> blocks =
        Pattern.compile("(?s)```(?:shell|python)\\n(.*?)```")
            .matcher(Files.readString(PAGE).replaceFirst("(?s).*\n## Packages\n", ""))
            .results()
            .map(block -> block.group(1))
            .toList();
    run("pip download -q --no-deps -d downloads " + PySparkIT.BUILD_PACKAGES);
    run(
        "pip wheel -q --no-index --find-links downloads --no-deps -w wheels "
            + PySpark.ROOT.resolve("python"));
    Path connector = PySpark.ROOT.resolve("spark-connector");
    publish("ddstore-parent", PySpark.ROOT.resolve("pom.xml"));
    publish("ddstore-spark_2.13", connector.resolve("dependency-reduced-pom.xml"));
    publish("ddstore-spark_2.13", SparkHome.RUNTIME_JAR);
    String program = blocks.get(2);
    Files.writeString(work.resolve("train.py"), program);

    String submit = blocks.get(1);
    int command = submit.indexOf("PYTHONPATH=");
    String settings = " --conf spark.ui.enabled=false --conf spark.jars.ivy=" + work.resolve("ivy");
    assertRunsInExecutors(submit.replace("spark-submit", "spark-submit" + settings));

    int session = program.indexOf("store = ");
    Files.writeString(
        work.resolve("train.py"),
        program.substring(0, session) + blocks.get(3) + program.substring(session));
    String options =
        submit.substring(submit.indexOf("--repositories"), submit.indexOf("train.py")) + settings;
    assertRunsInExecutors(
        submit.substring(0, command)
            + "export SPARK_REMOTE='local-cluster[2,1,1024]'\n"
            + "export PYSPARK_SUBMIT_ARGS='%s pyspark-shell'\n".formatted(options)
            + "PYTHONPATH=packages python train.py");
  }

  private void publish(String artifact, Path file) throws IOException {
    String version = System.getProperty("ddstore.version");
    Path folder = work.resolve("repository/org/ddstore").resolve(artifact).resolve(version);
    Files.createDirectories(folder);
    String suffix = file.toString().endsWith(".jar") ? ".jar" : ".pom";
    Files.copy(file, folder.resolve(artifact + "-" + version + suffix));
  }

  private void assertRunsInExecutors(String commands) throws IOException, InterruptedException {
    Program program =
        run(
            commands
                .replace("--target", "--upgrade -q --target")
                .replace("/data", work.toString()));
    String module = "/[^']*/homes/[^']*/work/app-[^']*/ddstore/__init__.py";
    assertThat(program.lastLine()).matches("\\['%s', '%1$s'\\]".formatted(module));
  }

  private Program run(String commands) throws IOException, InterruptedException {
    ProcessBuilder builder = PySpark.NEXT.installed(work, List.of("bash", "-e", "-c", commands));
    return Program.run(work, builder, LIMIT).assertSuccess();
  }
}
