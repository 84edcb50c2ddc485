// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.SparkSession;
import org.ddstore.notebook.classes.CellClasses;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A notebook in the JVM of a Spark application, whose driver does not serve classes of cells. */
class NotebookSparkTest {
  private static final String FOLDER = "spark.repl.class.outputDir";
  private static final String ADDRESS = "spark.repl.class.uri";

  @TempDir private static Path folder;
  private static SparkSession application;
  private static NotebookSpark spark;

  @BeforeAll
  static void start() {
    application =
        SparkSession.builder().master("local[1]").config("spark.ui.enabled", false).getOrCreate();
    CellClasses classes = new CellClasses(NotebookSparkTest.class.getClassLoader(), folder);
    spark = NotebookSpark.start(NotebookOptions.defaults(), classes);
  }

  @AfterAll
  static void stop() {
    spark.close();
    application.stop();
  }

  private static SparkConf settings() {
    return application.sparkContext().conf();
  }

  @Test
  void tellsWhyAnotherApplicationDoesNotServeClasses() {
    settings().remove(FOLDER).remove(ADDRESS);
    assertThat(spark.servingProblem())
        .hasValue(
            "executors cannot load classes of cells: spark.repl.class.outputDir is \"\" instead of \"%s\": start the notebook in a JVM without a Spark application, and without this setting"
                .formatted(folder));

    settings().set(FOLDER, "/other");
    assertThat(spark.servingProblem())
        .hasValueSatisfying(problem -> assertThat(problem).contains("is \"/other\" instead of"));
  }

  @Test
  void tellsThatSparkDoesNotServeTheFolder() {
    settings().set(FOLDER, folder.toString()).remove(ADDRESS);
    assertThat(spark.servingProblem())
        .hasValue(
            "executors cannot load classes of cells: Spark %s does not serve spark.repl.class.outputDir: use Spark 3.5 to 4.2, or put the classes into a jar"
                .formatted(application.version()));

    settings().set(ADDRESS, "spark://host:1/classes");
    assertThat(spark.servingProblem()).isEmpty();
  }

  /** Also before the notebook is ready, and before it has ever run a cell. */
  @Test
  @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void interruptStopsAnAnnouncedCellThatDoesNotRunYet() throws CellException {
    try (NotebookEngine engine =
        NotebookEngine.open(NotebookOptions.defaults(), CellOutput.PLAIN)) {
      for (int number = 1; number <= 3; number++) {
        try (NotebookEngine.Announcement cell = engine.announce()) {
          assertThat(cell).isNotNull();
          engine.interrupt();
          assertInterrupted(engine, "while (true) { }");
        }
        engine.interrupt(); // while no cell runs

        assertThat(engine.run(number, "6 * 7").value()).isEqualTo(42);
      }
    }
  }

  /** An interrupt after the code of a cell stops the rendering of its result. */
  @Test
  @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void interruptStopsTheRenderingOfAnAnnouncedCell() throws CellException {
    try (NotebookEngine engine =
        NotebookEngine.open(NotebookOptions.defaults(), CellOutput.PLAIN)) {
      NotebookEngine.Announcement first = engine.announce();
      Object value = engine.run(1, "\"shown\"").value();
      engine.interrupt();
      assertThatThrownBy(() -> engine.render(value))
          .isInstanceOfSatisfying(
              CellException.class, e -> assertThat(e.name()).isEqualTo("Interrupted"));
      first.close();
      try (NotebookEngine.Announcement second = engine.announce()) {
        assertThat(second).isNotSameAs(first);
        first.close(); // has no effect on the second one
        assertThat(engine.render(value).text()).isEqualTo("shown");
        engine.interrupt();
        assertInterrupted(engine, "1");
      }
    }
  }

  private static void assertInterrupted(NotebookEngine engine, String code) {
    assertThatThrownBy(() -> engine.run(9, code))
        .isInstanceOfSatisfying(
            CellException.class, e -> assertThat(e.name()).isEqualTo("Interrupted"));
  }
}
