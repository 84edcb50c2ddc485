// SPDX-License-Identifier: Apache-2.0
package org.ddstore.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.ddstore.contract.ChildJvm;
import org.ddstore.contract.Stopped;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@NeedsTwoHosts
@Timeout(120)
class TwoHostsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<Process> processes = new ArrayList<>();
  private TwoHosts hosts;

  @BeforeEach
  void open() throws IOException {
    hosts = TwoHosts.open();
  }

  @AfterEach
  void close() throws Exception {
    List<Optional<Path>> networks =
        List.of(
            Holder.networkOf(hosts.first().holderPid()),
            Holder.networkOf(hosts.second().holderPid()));
    hosts.close();
    hosts.close();
    for (Process process : processes) {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s ends", process).isTrue();
    }
    assertThat(networks).doesNotContain(Optional.empty()).doesNotHaveDuplicates();
    for (Optional<Path> network : networks) {
      assertThat(inNetwork(network)).isEmpty();
    }
    assertThatThrownBy(() -> hosts.first().sentBytes())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("closed: host dds-");
  }

  private static List<Long> inNetwork(Optional<Path> network) throws IOException {
    List<Long> pids = new ArrayList<>();
    for (ProcessHandle process : ProcessHandle.allProcesses().toList()) {
      if (network.equals(Holder.networkOf(process.pid()))) {
        pids.add(process.pid());
      }
    }
    return pids;
  }

  @Test
  void countsTheBytesOnTheLink() throws Exception {
    Process caller = connected(hosts.first().name());
    assertThat(hosts.second().processes()).hasSize(1);
    long sent = hosts.second().sentBytes();
    long received = hosts.second().receivedBytes();
    long both = hosts.sentBytes();

    assertThat(ask(caller, "1000000")).isEqualTo("echoed 1000000");

    assertThat(hosts.second().sentBytes() - sent).isBetween(1_000_000L, 1_500_000L);
    assertThat(hosts.second().receivedBytes() - received).isBetween(1_000_000L, 1_500_000L);
    assertThat(hosts.sentBytes() - both).isBetween(2_000_000L, 3_000_000L);
  }

  @Test
  void hostsHaveSeparateSharedMemory() throws Exception {
    String file = "/dev/shm/" + hosts.first().name();
    sh(hosts.first(), "echo shared > " + file);
    assertThat(sh(hosts.first(), "cat " + file)).as("another process there").isEqualTo("shared");
    assertThat(sh(hosts.second(), "ls -A /dev/shm")).isEmpty();
    assertThat(Path.of(file)).doesNotExist();
    assertThat(hosts.first().files()).containsExactly(file);
    assertThat(hosts.second().files()).isEmpty();
    assertThat(Files.readString(hosts.first().path(file))).isEqualTo("shared\n");
    Path directory = Files.createDirectory(hosts.second().path("/dev/shm/made"));
    Files.writeString(directory.resolve("file"), "x");
    assertThat(hosts.second().files()).containsExactly("/dev/shm/made", "/dev/shm/made/file");
  }

  @Test
  void hostsResolveTheNamesOfBoth() throws Exception {
    for (Host host : List.of(hosts.first(), hosts.second())) {
      assertThat(sh(host, "uname -n")).isEqualTo(host.name());
      for (Host named : List.of(hosts.first(), hosts.second())) {
        assertThat(sh(host, "getent hosts " + named.name())).startsWith(named.address());
      }
      assertThat(sh(host, "pwd")).isEqualTo(Path.of("").toAbsolutePath().toString());
    }
    assertThat(Files.readString(Path.of("/proc/sys/kernel/hostname")).strip())
        .isNotEqualTo(hosts.first().name());
  }

  @Test
  void hostsHaveDifferentBootIds() throws Exception {
    String file = "/proc/sys/kernel/random/boot_id";
    assertThat(
            List.of(
                sh(hosts.first(), "cat " + file),
                sh(hosts.second(), "cat " + file),
                Files.readString(Path.of(file)).strip()))
        .doesNotHaveDuplicates()
        .allMatch(id -> id.matches("[0-9a-f-]{36}"));
  }

  @Test
  void disabledLinkRefusesUntilRestored() throws Exception {
    Process server = talker(hosts.first(), "serve", hosts.first().address());
    Process caller = caller();
    String connect = "connect " + hosts.first().address() + " " + line(server);
    hosts.link().down();
    assertThat(ask(caller, connect)).contains("unreachable");
    hosts.link().restore();
    assertThat(ask(caller, connect)).isEqualTo("connected");
    assertThat(ask(caller, "10")).isEqualTo("echoed 10");
  }

  @Test
  void cutLinkDropsPacketsUntilRestored() throws Exception {
    Process caller = connected(hosts.first().address());
    assertThat(ask(caller, "10")).isEqualTo("echoed 10");
    hosts.link().drop();
    long before = hosts.sentBytes();
    say(caller, "500");
    await("sent again and again").atMost(PATIENCE).until(() -> hosts.sentBytes() > before + 2000);
    assertThat(caller.getInputStream().available()).as("answers").isZero();
    hosts.link().restore();
    assertThat(line(caller)).isEqualTo("echoed 500");
  }

  @Test
  void slowLinkLimitsTheRate() throws Exception {
    Process caller = connected(hosts.first().address());
    hosts.link().slow(50_000);
    assertThatThrownBy(() -> hosts.link().slow(999)).isInstanceOf(IllegalArgumentException.class);
    long slowNs = nanosToEcho(caller, 100_000);
    // Less than a tenth passes at once; the way back begins before the way there ends.
    assertThat(slowNs).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(1800));
    hosts.link().restore();
    await("fast again").atMost(PATIENCE).until(() -> nanosToEcho(caller, 100_000) < slowNs / 4);
  }

  @Test
  void delayedLinkDelaysEachPacket() throws Exception {
    Optional<String> missing = hosts.link().missingForDelay();
    missing.ifPresent(reason -> System.out.println("skipped, no delay: " + reason));
    assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
    Process caller = connected(hosts.first().address());
    hosts.link().delay(Duration.ofMillis(200));
    assertThat(nanosToEcho(caller, 1)).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(400));
    hosts.link().restore();
  }

  @Test
  void stoppedProcessAnswersOnlyAfterItContinues() throws Exception {
    Process server = talker(hosts.first(), "serve", hosts.first().address());
    Process caller = caller();
    ask(caller, "connect " + hosts.first().address() + " " + line(server));
    try (Stopped stopped = Stopped.stop(server.toHandle())) {
      long before = hosts.second().sentBytes();
      say(caller, "500");
      await().atMost(PATIENCE).until(() -> hosts.second().sentBytes() >= before + 500);
      assertThat(caller.getInputStream().available()).as("answers").isZero();
      stopped.proceed();
      assertThat(line(caller)).isEqualTo("echoed 500");
    }
  }

  @Test
  void hostsEndWithTheirJvm() throws Exception {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.add(Owner.class.getName());
    Process owner =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String[] pids = line(owner).split(" ", -1);
    List<Optional<Path>> networks = new ArrayList<>();
    for (String pid : pids) {
      networks.add(Holder.networkOf(Long.parseLong(pid)));
    }
    assertThat(networks).hasSize(3).doesNotContain(Optional.empty());
    owner.destroyForcibly().waitFor();
    for (Optional<Path> network : networks) {
      await().atMost(PATIENCE).until(() -> inNetwork(network).isEmpty());
    }
  }

  /** Prints the process numbers of two holders and of a process on the first host. */
  static final class Owner {
    private Owner() {}

    public static void main(String[] args) throws Exception {
      TwoHosts hosts = TwoHosts.open();
      Process sleeping = hosts.first().command(List.of("sleep", "1000")).start();
      await().atMost(PATIENCE).until(() -> hosts.first().processes().size() == 1);
      System.out.println(
          hosts.first().holderPid() + " " + hosts.second().holderPid() + " " + sleeping.pid());
      sleeping.waitFor();
    }
  }

  private Process talker(Host host, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(ChildJvm.command());
    command.add(Talker.class.getName());
    command.addAll(List.of(arguments));
    Process process = host.command(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    processes.add(process);
    return process;
  }

  /** On the second host. */
  private Process caller() throws IOException {
    Process caller = talker(hosts.second(), "call");
    assertThat(line(caller)).isEqualTo(hosts.second().name() + "/" + hosts.second().address());
    return caller;
  }

  /** On the second host, connected to a server on the first. */
  private Process connected(String server) throws IOException {
    String port = line(talker(hosts.first(), "serve", hosts.first().address()));
    Process caller = caller();
    assertThat(ask(caller, "connect " + server + " " + port)).isEqualTo("connected");
    return caller;
  }

  private static long nanosToEcho(Process caller, int lengthBytes) throws IOException {
    long start = System.nanoTime();
    assertThat(ask(caller, Integer.toString(lengthBytes))).isEqualTo("echoed " + lengthBytes);
    return System.nanoTime() - start;
  }

  private static String ask(Process process, String line) throws IOException {
    say(process, line);
    return line(process);
  }

  private static void say(Process process, String line) throws IOException {
    process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  private static String line(Process process) throws IOException {
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    return lines.readLine();
  }

  private static String sh(Host host, String script) throws IOException {
    return Program.run(host.command(List.of("sh", "-c", script)).command(), "").strip();
  }
}
