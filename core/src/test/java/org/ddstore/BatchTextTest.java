// SPDX-License-Identifier: Apache-2.0
package org.ddstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.ddstore.collective.Communicator;
import org.ddstore.collective.LocalGroup;
import org.ddstore.types.Backing;
import org.ddstore.types.DType;
import org.junit.jupiter.api.Test;

/** A batch describes its rows and fields, open or closed. */
class BatchTextTest {
  @Test
  void namesRowsAndFields() {
    try (Communicator alone = LocalGroup.create(1, Duration.ofSeconds(30)).get(0);
        DDStore store = DDStore.open(alone, StoreOptions.defaults().backing(Backing.DIRECT))) {
      Variable rows = store.add("x", Tensor.wrap(new float[] {1, 2, 3, 4, 5, 6}, 2, 3));
      try (Reader reader = rows.reader();
          Reader casting = rows.reader(ReaderOptions.defaults().cast("x", DType.BFLOAT16, 1f))) {
        Batch batch = reader.getBatch(1, 0, 1, 1);
        assertThat(batch).hasToString("Batch[4 rows of x: float32[3]]");
        batch.close();
        assertThat(batch).hasToString("Batch[closed, rows of x: float32[3]]");
        try (Batch cast = casting.getBatch(0)) {
          assertThat(cast).hasToString("Batch[1 row of x: bfloat16[3]]");
        }
      }
    }
  }
}
