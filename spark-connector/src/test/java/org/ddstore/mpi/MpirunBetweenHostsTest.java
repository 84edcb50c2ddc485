// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.ddstore.contract.ProcessTree;
import org.ddstore.hosts.NeedsTwoHosts;
import org.ddstore.hosts.RemoteShell;
import org.ddstore.hosts.TwoHosts;
import org.ddstore.mpirun.MpiRun;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Ranks that mpirun has started on two hosts: collectives between them go by MPI's messages. */
@NeedsTwoHosts
@NeedsMpi
@Timeout(300)
@Tag("slow")
class MpirunBetweenHostsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int RANKS = 4;

  @TempDir Path directory;
  private String said = "";

  private int run(TwoHosts hosts, String... arguments) throws Exception {
    Path sessions = Files.createDirectory(directory.resolve("sessions"));
    Path out = directory.resolve("out");
    ProcessBuilder program =
        hosts
            .first()
            .command(
                Mpirun.command(
                    RANKS,
                    sessions,
                    RemoteShell.create(hosts, directory).mpirunOptions(hosts, RANKS / 2),
                    List.of(arguments)))
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    try (ProcessTree processes = ProcessTree.start(program)) {
      int status = processes.awaitExit(LIMIT);
      said = Files.readString(out, UTF_8);
      processes.awaitAll(LIMIT);
      assertThat(hosts.first().files()).as("files left on the first host: %s", said).isEmpty();
      assertThat(hosts.second().files()).as("files left on the second host: %s", said).isEmpty();
      return status;
    }
  }

  @Test
  void readsRowsOfTheOtherHostByMpi() throws Exception {
    try (TwoHosts hosts = TwoHosts.open()) {
      int status = run(hosts, "read", directory.toString());

      assertThat(status).as(said).isZero();
      RowsRead.check(directory, RANKS, "own \\d+, same host \\d+, remote [1-9]\\d+");
      assertThat(hosts.sentBytes()).isGreaterThan(2 * 5000L * RankProgram.ROW_BYTES);
    }
  }

  /** Output of a rank is sent although the rank waits in MPI for ranks that wait for the output. */
  @Test
  void opensAndClosesStoresInTurn() throws Exception {
    try (TwoHosts hosts = TwoHosts.open()) {
      int status = run(hosts, "stores", directory.toString());

      assertThat(status).as(said).isZero();
      RowsRead.checkHeld(directory, RANKS);
    }
  }

  @Test
  void failureReachesTheOtherHost() throws Exception {
    try (TwoHosts hosts = TwoHosts.open()) {
      int status = run(hosts, "fail-together", directory.toString());

      assertThat(status).as(said).isEqualTo(MpiRun.FAILED);
      assertThat(said)
          .contains("rank 1 of 4: java.lang.IllegalStateException: the sample 17 is bad")
          .containsPattern(
              "rank 3 of 4: org.ddstore.types.RankFailedException: barrier\\(\\).*: rank 1"
                  + " aborted its collectives: ");
    }
  }
}
