package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The data source of the one runtime jar, given by {@code --jars} to a program that knows Spark
 * alone, on every release that is promised: every type there and back, all modes, SQL.
 */
@Tag("slow")
@Timeout(value = 900, unit = TimeUnit.SECONDS)
class SqlOnSparkReleasesIT {
  private static final String PROGRAM = "org.ddstore.spark.source.RoundTripProgram";
  private static final int FEW_EXECUTORS = 2;
  private static final int MORE_EXECUTORS = 4;
  private static final long ROWS_OF_ALL = 20_000;
  private static final long ROWS_OF_CURRENT = 1_000_000;

  /** Sets the rows of all releases, each with few and more executors: too long for every run. */
  private static final Long ROWS = Long.getLong("ddstore.rows");

  /** Where the program is: the connector's tests. */
  private static final Path TESTS =
      Path.of(System.getProperty("ddstore.root"), "spark-connector/target/test-classes");

  @TempDir private Path work;

  static Stream<Arguments> cases() {
    if (ROWS != null) {
      return SparkHome.supported().stream()
          .flatMap(
              spark ->
                  Stream.of(FEW_EXECUTORS, MORE_EXECUTORS)
                      .map(executors -> Arguments.of(spark, executors, ROWS)));
    }
    return Stream.concat(
        SparkHome.supported().stream()
            .map(spark -> Arguments.of(spark, FEW_EXECUTORS, ROWS_OF_ALL)),
        Stream.of(Arguments.of(SparkHome.current(), MORE_EXECUTORS, ROWS_OF_CURRENT)));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyTypeModeAndStatement(SparkHome spark, int executors, long rows)
      throws IOException, InterruptedException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--master",
                "local-cluster[%d,1,1024]".formatted(executors),
                "--conf",
                "spark.sql.shuffle.partitions=4",
                "--jars",
                SparkHome.RUNTIME_JAR.toString(),
                "--class",
                PROGRAM,
                "spark-internal",
                Long.toString(rows)));

    Program program = Program.submit(spark, work, arguments, TESTS);

    assertThat(program.assertSuccess().lastLine()).isEqualTo("equal");
  }
}
