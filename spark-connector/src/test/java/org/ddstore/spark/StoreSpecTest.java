package org.ddstore.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.ddstore.Batch;
import org.ddstore.Reader;
import org.junit.jupiter.api.Test;

class StoreSpecTest {
  @Test
  void runsATaskOnEveryRank() {
    SparkSession spark =
        SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").getOrCreate();
    List<Long> sums =
        DDStores.from(
                spark
                    .range(1000)
                    .selectExpr("id", "array(float(id), float(-id)) as x", "concat('t', id) as t"))
            .ranks(2)
            .run(
                context -> {
                  long sum = 0;
                  try (Reader reader = context.rows().reader()) {
                    for (int i = 0; i < 1000; i++) {
                      try (Batch batch = reader.getBatch(i)) {
                        sum += batch.field("id").getLong(0);
                        assertThat(batch.field("x").toFloatArray())
                            .containsExactly((float) i, (float) -i);
                        assertThat(batch.string("t", 0)).isEqualTo("t" + i);
                      }
                    }
                  }
                  return sum;
                });
    assertThat(sums).containsExactly(499500L, 499500L);
    System.out.println(DDStores.from(spark.range(1000).toDF()).ranks(2).explain());
  }
}
