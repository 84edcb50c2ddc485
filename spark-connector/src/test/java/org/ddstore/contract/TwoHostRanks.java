// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.ddstore.hosts.Host;
import org.ddstore.hosts.TwoHosts;

/** Ranks as processes of {@link TwoHosts}, which nothing but a network joins. */
public final class TwoHostRanks implements RankHarness {
  private final TwoHosts hosts;
  private final ProcessRanks processes;

  private TwoHostRanks(TwoHosts hosts, ProcessRanks processes) {
    this.hosts = hosts;
    this.processes = processes;
  }

  /** Rank r runs on host r % 2. */
  public static TwoHostRanks alternating(RankBackend backend) throws IOException {
    return placed(backend, 0, 1);
  }

  /**
   * Ranks that run where the caller says.
   *
   * @param backend whose directories lie in /dev/shm, or both hosts would share them
   * @param hostOfRank 0 or 1 for ranks 0, 1, .., and from the start again
   */
  public static TwoHostRanks placed(RankBackend backend, int... hostOfRank) throws IOException {
    TwoHosts hosts = TwoHosts.open();
    try {
      List<Place> both = List.of(new HostPlace(hosts.first()), new HostPlace(hosts.second()));
      List<Place> places = Arrays.stream(hostOfRank).mapToObj(both::get).toList();
      return new TwoHostRanks(hosts, new ProcessRanks(backend, places));
    } catch (IOException | RuntimeException e) {
      try (hosts) {
        throw e;
      }
    }
  }

  /** Its link can be cut and measured. */
  public TwoHosts hosts() {
    return hosts;
  }

  /** To offer acts and to lose ranks. */
  public ProcessRanks processes() {
    return processes;
  }

  @Override
  public void run(int ranks, Duration timeout, Scenario scenario) throws Exception {
    processes.run(ranks, timeout, scenario);
  }

  @Override
  public void close() throws IOException {
    try (hosts) {
      processes.close();
      for (Host host : List.of(hosts.first(), hosts.second())) {
        assertThat(host.files()).as("files on %s", host).isEmpty();
        assertThat(host.processes()).as("processes on %s", host).isEmpty();
      }
    }
  }

  private record HostPlace(Host host) implements Place {
    @Override
    public String name() {
      return host.name();
    }

    @Override
    public String address() {
      return host.address();
    }

    @Override
    public ProcessBuilder command(List<String> command) {
      return host.command(command);
    }

    @Override
    public Path path(String absolute) {
      return host.path(absolute);
    }
  }
}
