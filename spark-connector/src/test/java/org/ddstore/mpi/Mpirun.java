// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.ddstore.contract.ChildJvm;

/** The command by which tests start {@link RankProgram} with mpirun. */
final class Mpirun {
  private Mpirun() {}

  /**
   * @param sessions for mpirun's own files
   * @param more options of mpirun
   * @param arguments of the program
   */
  static List<String> command(int ranks, Path sessions, List<String> more, List<String> arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                // Containers run as root, and mpirun wants to be told twice that this is meant.
                "env",
                "OMPI_ALLOW_RUN_AS_ROOT=1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                "mpirun",
                "--oversubscribe",
                "-n",
                Integer.toString(ranks),
                "--mca",
                "orte_tmpdir_base",
                sessions.toString()));
    command.addAll(more);
    command.addAll(program(arguments));
    return command;
  }

  /** The program by itself. */
  static List<String> program(List<String> arguments) {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.add(RankProgram.class.getName());
    command.addAll(arguments);
    return command;
  }
}
