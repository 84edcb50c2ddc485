// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.ddstore.DDStore;
import org.ddstore.Tensor;
import org.ddstore.contract.ProcessRanks;
import org.ddstore.contract.TestRoots;
import org.ddstore.memory.MappedRegion;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.FrozenMembershipException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A user ends MPI while a store is open. */
@Tag("system")
@NeedsMpi
@Timeout(120)
class MpiFinalizedTest {
  private static final int RANKS = 2;
  private static final Duration TIME = Duration.ofMinutes(1);

  @Test
  void rejectsReadsAndJoinsAfterMpiFinalize() throws Exception {
    MpiBackend backend =
        new MpiBackend(TestRoots.sharedMemory().toString(), TestRoots.sharedMemory().toString());
    try (ProcessRanks processes = MpiBackend.world(RANKS, backend.root(), backend.lanes())) {
      processes.run(
          RANKS,
          TIME,
          rank -> {
            MpiTransport mpi = backend.join(rank.meeting());
            long withoutStore = MappedRegion.liveBytes();
            DDStore store = DDStore.open(rank.group(), mpi, rank.options());
            store.add("x", Tensor.wrap(new long[] {rank.rank()}));
            store.getBatch("x", 0, 1).close();
            rank.meeting().tell(new byte[0]);
            finalizeMpi();

            assertThatThrownBy(() -> store.getBatch("x", 0, 1))
                .isInstanceOf(DDStoreException.class)
                .hasMessageContaining("MPI was finalised in this JVM");
            store.close();
            mpi.close();
            mpi.close();
            assertThat(MappedRegion.liveBytes()).as("mapped bytes").isEqualTo(withoutStore);
            assertThatThrownBy(() -> backend.join(rank.meeting()))
                .isInstanceOf(FrozenMembershipException.class)
                .hasMessageContaining("MPI was finalised there");
          });
    }
  }

  private static void finalizeMpi() throws ReflectiveOperationException {
    Class.forName("mpi.MPI").getMethod("Finalize").invoke(null);
  }
}
