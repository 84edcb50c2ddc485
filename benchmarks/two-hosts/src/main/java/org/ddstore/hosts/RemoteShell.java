// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * A replacement of ssh, for mpirun and similar programs, that starts a command on one of {@link
 * TwoHosts}: its arguments are the name of a host and a shell command.
 *
 * @param program path of the executable, usable while the hosts are open
 */
public record RemoteShell(Path program) {
  private static final String SCRIPT =
      """
      #!/bin/sh
      # Arguments: the name of a host, then a shell command.
      case $1 in
        %s) pid=%d ;;
        %s) pid=%d ;;
        *) echo "unknown host $1" >&2; exit 1 ;;
      esac
      shift
      exec nsenter -t "$pid" -n -m -u -w -- sh -c "$*"
      """;

  /**
   * Writes the program.
   *
   * @param directory directory of the program, deleted by the caller
   */
  public static RemoteShell create(TwoHosts hosts, Path directory) throws IOException {
    Host first = hosts.first();
    Host second = hosts.second();
    Path program = directory.resolve("remote-shell");
    Files.writeString(
        program,
        SCRIPT.formatted(first.name(), first.holderPid(), second.name(), second.holderPid()));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return new RemoteShell(program);
  }

  /**
   * Returns the options with which mpirun of Open MPI 4, started on one of the hosts, uses both.
   *
   * @param slots number of ranks on each host; the lower ranks run on the first host
   */
  public List<String> mpirunOptions(TwoHosts hosts, int slots) {
    return List.of(
        "--host",
        "%s:%d,%s:%d".formatted(hosts.first().name(), slots, hosts.second().name(), slots),
        "--mca",
        "plm_rsh_agent",
        program.toString(),
        "--mca",
        "oob_tcp_if_include",
        Host.INTERFACE,
        "--mca",
        "btl_tcp_if_include",
        Host.INTERFACE);
  }
}
