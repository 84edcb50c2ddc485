// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The rows that the examples train on. */
class GeneratedRowsTest {
  private static final int ROWS = 1000;

  private static SparkSession spark;

  @BeforeAll
  static void start() {
    spark =
        SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate();
  }

  @AfterAll
  static void stop() {
    spark.stop();
  }

  @Test
  void theEnergyOfAGraphIsTheSumOverItsEdges() {
    List<Row> graphs = Graph.graphs(spark, ROWS).collectAsList();
    assertThat(graphs).hasSize(ROWS);
    for (Row graph : graphs) {
      List<Float> charge = graph.getList(graph.fieldIndex("charge"));
      List<Integer> source = graph.getList(graph.fieldIndex("source"));
      List<Integer> target = graph.getList(graph.fieldIndex("target"));
      assertThat(charge).hasSizeBetween(4, 20).allMatch(value -> value >= -1 && value < 1);
      assertThat(target).hasSameSizeAs(source);
      double energy = 0;
      for (int edge = 0; edge < source.size(); edge++) {
        energy += charge.get(source.get(edge)) * charge.get(target.get(edge));
      }
      assertThat(graph.<Float>getAs("energy")).isCloseTo((float) energy, within(1e-4f));
      assertThat(graph.<Integer>getAs("cost")).isEqualTo(charge.size() + source.size());
    }
  }

  @Test
  void cellsAreSparseAndTheirKindsOfUnequalFrequency() {
    Map<String, Integer> kinds = new HashMap<>();
    int tests = 0;
    for (Row cell : Sparse.cells(spark, ROWS).collectAsList()) {
      kinds.merge(cell.getAs("kind"), 1, Integer::sum);
      tests += cell.<Boolean>getAs("is_test") ? 1 : 0;
      List<Integer> genes = cell.getList(cell.fieldIndex("genes"));
      List<Float> counts = cell.getList(cell.fieldIndex("counts"));
      assertThat(genes).hasSizeLessThan(80).allMatch(gene -> gene >= 0 && gene < 512);
      assertThat(new HashSet<>(genes)).hasSameSizeAs(genes);
      assertThat(counts).hasSameSizeAs(genes).allMatch(count -> count > 0);
    }
    assertThat(kinds).containsOnlyKeys("T cell", "B cell", "monocyte", "platelet");
    assertThat(kinds.get("T cell")).isBetween(600, 800);
    assertThat(kinds.get("platelet")).isBetween(10, 60);
    assertThat(tests).isBetween(120, 280);
  }
}
