package org.ddstore.spark.wire;

import java.io.IOException;
import java.nio.file.Path;
import org.ddstore.contract.RankHarness;
import org.ddstore.contract.StoreContract;
import org.ddstore.contract.TwoHostRanks;
import org.ddstore.hosts.NeedsTwoHosts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** 3 processes on two hosts, authenticated and encrypted by Spark's settings. */
@NeedsTwoHosts
class TcpEncryptedOnTwoHostsTest extends StoreContract {
  private static final Path ROOT = Path.of("/dev/shm/ddstore-contract");

  TcpEncryptedOnTwoHostsTest() {
    super(3);
  }

  @Override
  protected RankHarness createHarness() throws IOException {
    return TwoHostRanks.alternating(TcpBackend.guarded(ROOT));
  }

  @Override
  public boolean readsOverANetwork() {
    return true;
  }

  /** Gibibytes, which take a minute to encrypt, cross the same borders as plain ones. */
  @Test
  @Tag("exhaustive")
  @Override
  public void raggedRecordsOverChunkBorders() throws Exception {
    super.raggedRecordsOverChunkBorders();
  }

  @Test
  @Tag("exhaustive")
  @Override
  public void aRecordOfOneGiBFitsAndOneByteMoreDoesNot() throws Exception {
    super.aRecordOfOneGiBFitsAndOneByteMoreDoesNot();
  }
}
