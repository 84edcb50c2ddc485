// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import org.ddstore.contract.RankBackend;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** Tests whose ranks on two hosts share {@link Troubles}, which end with each test. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
public abstract class TroubledRanks {
  private final Function<Path, RankBackend> backend;
  Troubles troubles;

  /**
   * @param backend by the root of its files
   */
  TroubledRanks(Function<Path, RankBackend> backend) {
    this.backend = backend;
  }

  @BeforeAll
  protected void start() throws IOException {
    troubles = new Troubles(backend);
  }

  @AfterEach
  protected void heal() throws IOException {
    troubles.heal();
  }

  @AfterAll
  protected void end() throws IOException {
    troubles.close();
  }
}
