package org.ddstore.spark.wire;

import org.junit.jupiter.api.Tag;

/** Strangers to connections authenticated and encrypted by Spark's settings. */
@Tag("system")
class StrangersToEncryptedTest extends StrangersContract {
  StrangersToEncryptedTest() {
    super(true);
  }
}
