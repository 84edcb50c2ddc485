// SPDX-License-Identifier: Apache-2.0
package org.ddstore.mpi;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The environment with which Open MPI starts and selects suitable components in processes that it
 * did not start. Variables that the user has set are kept, except those by which MPI finds the
 * process manager, and those of another launcher's job.
 */
final class WorldEnvironment {
  /** Variable that selects the component of one-sided communication. */
  static final String OSC = "OMPI_MCA_osc";

  private static final String PML = "OMPI_MCA_pml";
  private static final String BTL = "OMPI_MCA_btl";

  /** Variable that selects how shared memory copies bytes from another process. */
  private static final String SINGLE_COPY = "OMPI_MCA_btl_vader_single_copy_mechanism";

  /** Variables that decide which ranks need help from which, so all ranks need the same. */
  private static final List<String> CHOICES = List.of(OSC, PML, BTL, SINGLE_COPY);

  private static final String RDMA_OR_ALONE = "rdma,pt2pt";
  private static final String UCX = "ucx";
  private static final String TCP_INTERFACE = "OMPI_MCA_btl_tcp_if_include";

  private static final Path INFINIBAND = Path.of("/sys/class/infiniband");

  /**
   * An environment variable.
   *
   * @param reason reason for the value
   */
  record Variable(String name, String value, String reason) {
    @Override
    public String toString() {
      return "%s=%s (%s)".formatted(name, value, reason);
    }
  }

  /**
   * The properties of the ranks, as exchanged between all of them.
   *
   * @param spanHosts whether some ranks do not share memory
   * @param haveRdma whether all ranks have an RDMA device
   * @param mayReadProcesses whether all ranks can read memory of other processes of their host
   * @param areCrowded whether this host has more ranks than processors
   */
  record Ranks(boolean spanHosts, boolean haveRdma, boolean mayReadProcesses, boolean areCrowded) {}

  private final List<Variable> ours = new ArrayList<>();
  private final Map<String, String> users;
  private final Map<String, String> hidden;
  private final Ranks ranks;

  /**
   * @param users environment of the process
   * @param hidden variables of it that MPI must not see, with the reasons
   */
  private WorldEnvironment(Map<String, String> users, Map<String, String> hidden, Ranks ranks) {
    this.users = new HashMap<>(users);
    this.users.keySet().removeAll(hidden.keySet());
    this.hidden = hidden;
    this.ranks = ranks;
  }

  /** Returns the MPI settings of the user, as a human-readable text for comparison. */
  static String choices(Map<String, String> users) {
    return CHOICES.stream()
        .map(name -> users.containsKey(name) ? name + "=" + users.get(name) : name + " not set")
        .collect(Collectors.joining(", "));
  }

  /** Returns whether this host has a device by which UCX reads remote memory. */
  static boolean hasRdmaDevice() {
    String[] devices = INFINIBAND.toFile().list();
    return devices != null && devices.length > 0;
  }

  /**
   * Returns the environment for a process that joins a world.
   *
   * @param users environment of the process
   * @param host address by which this process is reached; determines the interface for TCP
   * @param directory directory of this process, which is deleted after it
   */
  static WorldEnvironment of(Map<String, String> users, Ranks ranks, String host, Path directory) {
    WorldEnvironment environment =
        new WorldEnvironment(users, EnclosingJob.variables(users), ranks);
    environment.set(
        "OMPI_MCA_pmix",
        "flux",
        "otherwise a process inside a Slurm or mpirun job uses the process manager of that job");
    environment.set(
        "OMPI_MCA_orte_create_session_dirs",
        "false",
        "session directories would remain after a kill");
    environment.choose(host, directory);
    return environment;
  }

  /**
   * Returns the environment for a process that mpirun has started: mpirun knows the members and
   * cleans up, and its user selects the networks. The hosts are assumed to be alike.
   *
   * @param users environment of the process
   * @param ranks common properties of the ranks
   * @param directory directory of this process, which is deleted after it
   */
  static WorldEnvironment ofLaunched(Map<String, String> users, Ranks ranks, Path directory) {
    WorldEnvironment environment = new WorldEnvironment(users, Map.of(), ranks);
    environment.choose("", directory);
    environment.ours.removeIf(variable -> variable.name().equals(TCP_INTERFACE));
    return environment;
  }

  private void choose(String host, Path directory) {
    set(
        "UCX_ERROR_SIGNALS",
        "",
        "the JVM uses SIGSEGV itself, and UCX would end it at the first one");
    for (String component : List.of("btl_vader", "osc_rdma", "osc_sm")) {
      set(
          "OMPI_MCA_" + component + "_backing_directory",
          directory.toString(),
          "files of a killed process are deleted with its directory");
    }
    if (ranks.areCrowded()) {
      set("OMPI_MCA_mpi_yield_when_idle", "1", "more ranks than processors: waiting ranks yield");
    }
    if (ranks.mayReadProcesses()) {
      set(SINGLE_COPY, "cma", "needs no help of the owner; overrides configuration files");
    }
    if (wantsUcx()) {
      chooseUcx("the user selects UCX");
    } else if (!ranks.spanHosts()) {
      chooseMemory();
    } else if (ranks.haveRdma()) {
      chooseUcx("all hosts have RDMA devices");
    } else {
      chooseTcp(host);
    }
  }

  /** Returns whether the user selects UCX; a list that begins with ^ names excluded components. */
  private boolean wantsUcx() {
    String osc = users.getOrDefault(OSC, "");
    return !osc.startsWith("^") && List.of(osc.split(",", -1)).contains(UCX);
  }

  private void chooseMemory() {
    set(PML, "ob1", "one host: shared memory is sufficient");
    set(BTL, "vader,self", "one host: no port needed");
    set(
        OSC,
        RDMA_OR_ALONE,
        "rdma reads memory of other processes without their help; pt2pt for windows of a single rank, which rdma cannot create");
  }

  private void chooseUcx(String reason) {
    set(PML, UCX, reason);
    set(OSC, UCX, reason);
    for (String names : List.of("tls", "devices")) {
      set(
          "OMPI_MCA_opal_common_ucx_" + names,
          "any",
          "otherwise Open MPI excludes UCX for devices that it does not know by name");
    }
    set(
        "OMPI_MCA_opal_common_ucx_progress_iterations",
        "1",
        "every call of the progress thread must reach UCX");
  }

  private void chooseTcp(String host) {
    set(PML, "ob1", "TCP between the hosts");
    set(BTL, "vader,self,tcp", "TCP between the hosts");
    set(OSC, "pt2pt", "the component that supports windows over TCP");
    interfaceOf(host)
        .ifPresent(name -> set(TCP_INTERFACE, name, "the interface of Spark's address"));
  }

  private void set(String name, String value, String reason) {
    if (!users.containsKey(name)) {
      ours.add(new Variable(name, value, reason));
    }
  }

  /** Sets a variable even if the environment has it, because that value is of another job. */
  private void impose(String name, String value, String reason) {
    users.remove(name);
    set(name, value, reason);
  }

  private static Optional<String> interfaceOf(String host) {
    try {
      return Optional.ofNullable(NetworkInterface.getByInetAddress(InetAddress.getByName(host)))
          .map(NetworkInterface::getName);
    } catch (UnknownHostException | SocketException e) {
      return Optional.empty(); // MPI chooses the interface itself
    }
  }

  List<Variable> ours() {
    return List.copyOf(ours);
  }

  /** Returns the names of removed variables, which belong to another job, with the reasons. */
  Map<String, String> hidden() {
    return Map.copyOf(hidden);
  }

  /** Returns the value that MPI sees; null if neither the user nor this class sets it. */
  String value(String name) {
    return users.containsKey(name)
        ? users.get(name)
        : ours.stream()
            .filter(variable -> variable.name().equals(name))
            .map(Variable::value)
            .findFirst()
            .orElse(null);
  }

  /**
   * Returns whether a target must call MPI for reads from it to progress. False if memory is read
   * without its help; components that the user selects instead may need it, and unnecessary help
   * costs little.
   */
  boolean needsProgress() {
    return ranks.spanHosts()
        || !ranks.mayReadProcesses()
        || CHOICES.stream().anyMatch(users::containsKey);
  }

  /** Adds the variables by which MPI finds this process manager, for a positive job number. */
  void identify(int job, String library) {
    impose(
        "FLUX_JOB_ID",
        Integer.toString(job),
        "MPI uses a process manager only inside a job, and takes the number of its world from it");
    impose("FLUX_PMI_LIBRARY_PATH", library, "the library of DDStore is the process manager");
  }

  void apply() {
    hidden.keySet().forEach(ProcessManager::unsetEnvironment);
    for (Variable variable : ours) {
      ProcessManager.setEnvironment(variable.name(), variable.value());
    }
  }

  /** Returns a human-readable description of which variables are set, and by whom. */
  String description() {
    StringBuilder text = new StringBuilder("osc ").append(value(OSC));
    if (users.containsKey(OSC)) {
      text.append(" (set by ").append(OSC).append(")");
    }
    return text.toString();
  }
}
