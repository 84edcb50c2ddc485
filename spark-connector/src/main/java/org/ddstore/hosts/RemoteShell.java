package org.ddstore.hosts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * What mpirun and the like call in place of ssh to start something on one of {@link TwoHosts}: a
 * program that takes the name of a host and a command for its shell.
 *
 * @param program the executable, of use while the hosts are open
 */
public record RemoteShell(Path program) {
  private static final String SCRIPT =
      """
      #!/bin/sh
      # Takes the name of a host, then a command for a shell there.
      case $1 in
        %s) pid=%d ;;
        %s) pid=%d ;;
        *) echo "there is no host $1" >&2; exit 1 ;;
      esac
      shift
      exec nsenter -t "$pid" -n -m -u -w -- sh -c "$*"
      """;

  /**
   * Writes the program.
   *
   * @param directory of the caller, who deletes it
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
   * The options by which mpirun of Open MPI 4, started on one of the hosts, uses both.
   *
   * @param slots ranks on each, the first ones on the first
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
