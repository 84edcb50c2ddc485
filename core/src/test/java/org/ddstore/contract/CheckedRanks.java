// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** Ranks as processes whose every use of JNI is checked. */
public final class CheckedRanks implements RankHarness {
  private final JniChecks checks;
  private final ProcessRanks ranks;
  private int most;

  /**
   * @param backend of ranks on this host
   */
  public CheckedRanks(RankBackend backend) throws IOException {
    checks = JniChecks.create();
    ranks = new ProcessRanks(new Checked(backend, checks.options()), List.of(Place.HERE));
  }

  private record Checked(RankBackend backend, List<String> options) implements RankBackend {
    private static final long serialVersionUID = 1L;

    @Override
    public List<String> directories() {
      return backend.directories();
    }

    @Override
    public List<String> jvmOptions() {
      return Stream.concat(backend.jvmOptions().stream(), options.stream()).toList();
    }

    @Override
    public RankEnv enter(Meeting meeting, Duration timeout) throws Exception {
      return backend.enter(meeting, timeout);
    }
  }

  @Override
  public void run(int size, Duration timeout, Scenario scenario) throws Exception {
    most = Math.max(most, size);
    ranks.run(size, timeout, scenario);
  }

  @Override
  public void optimiseCode() {
    ranks.optimiseCode();
  }

  @Override
  public void close() throws IOException {
    try (checks) {
      ranks.close();
      checks.assertSilent(most);
    }
  }
}
