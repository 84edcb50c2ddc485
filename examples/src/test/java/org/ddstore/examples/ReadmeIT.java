// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.contract.Needed;
import org.ddstore.mpi.Mpi;
import org.ddstore.transport.Availability;
import org.ddstore.types.Plural;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code ./ddstore example readme}, as a user runs it. */
@Tag("system")
class ReadmeIT {
  @TempDir Path directory;

  @BeforeAll
  static void requireMpi() {
    Availability mpi = Mpi.availability();
    Needed.check("MPI", mpi.isAvailable(), mpi::detail);
  }

  private Program run(String... arguments) throws IOException, InterruptedException {
    Path sessions = Files.createDirectories(directory.resolve("sessions"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("ddstore.root"), "ddstore").toString());
    command.addAll(List.of("example", "readme"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("OMPI_MCA_orte_tmpdir_base", sessions.toString());
    Program program = Program.run(directory, builder);
    assertThat(sessions).as("files of mpirun left").isEmptyDirectory();
    return program;
  }

  @Test
  void everyRankReadsRowsOfAllRanks() throws Exception {
    everyRankReadsRowsOfAllRanks(2, "300 7");
  }

  @ParameterizedTest
  @Tag("slow")
  @CsvSource({"1, 1024 64", "4, 4096 64"})
  void otherNumbersOfRanksReadRowsOfAll(int ranks, String size) throws Exception {
    everyRankReadsRowsOfAllRanks(ranks, size);
  }

  private void everyRankReadsRowsOfAllRanks(int ranks, String size) throws Exception {
    String[] numDim = size.split(" ", -1);
    Program program =
        run("--ranks", "" + ranks, "--num", numDim[0], "--dim", numDim[1], "--nbatch", "10")
            .assertSuccess();

    long rows = Long.parseLong(numDim[0]) * ranks;
    assertThat(program.lastLine())
        .startsWith(
            "%s, Variable[\"features\", %,d rows of ".formatted(Plural.of(ranks, "rank"), rows))
        .contains(" 0 by MPI; 0 numbers wrong");
  }

  @Test
  void readsAllRowsByMpiWithoutShortcut() throws Exception {
    Program program =
        run("--ranks", "3", "--num", "500", "--nbatch", "4", "--no-shortcut").assertSuccess();

    assertThat(program.lastLine())
        .contains("0 of the own process, 0 of the same host, %d by MPI".formatted(3 * 4 * 65))
        .endsWith("; 0 numbers wrong");
  }

  @Test
  void rejectsInvalidArguments() throws Exception {
    Program refused = run("--num", "0");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("ddstore: --num: 0 outside [1, 134217728]");

    refused = run("--ranks", "none");
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err()).contains("--ranks: \"none\" is not a number in [1, 999]");
  }

  @Test
  void helpNeedsNoMpirun() throws Exception {
    assertThat(run("--help").assertSuccess().out()).contains("Usage: ddstore example readme");
  }
}
