// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks.jmh;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.ddstore.collective.ReduceOp;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Collectives between processes of one host, through shared memory and over TCP on the loopback
 * interface. With more processes than cores, most of the time is spent waiting for a core.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class CollectiveBenchmark {
  /** A group of ranks that call barriers. */
  @State(Scope.Benchmark)
  public static class Barriers {
    /** Medium of the lanes. */
    @Param({"shared-memory", "tcp"})
    public String means;

    /** Number of processes, including this one. */
    @Param({"2", "4"})
    public int ranks;

    private GroupProcesses group;

    @Setup(Level.Trial)
    public void open() throws IOException {
      group = GroupProcesses.start(means, "barrier", ranks);
    }

    @TearDown(Level.Trial)
    public void close() {
      group.close();
    }
  }

  /** Two ranks that reduce 2.6 MB. */
  @State(Scope.Benchmark)
  public static class Reductions {
    /** Medium of the lanes. */
    @Param({"shared-memory", "tcp"})
    public String means;

    private final float[] values = new float[GroupProcesses.FLOATS];
    private GroupProcesses group;

    @Setup(Level.Trial)
    public void open() throws IOException {
      group = GroupProcesses.start(means, "allReduce", 2);
    }

    @TearDown(Level.Trial)
    public void close() {
      group.close();
    }
  }

  @Benchmark
  public void barrier(Barriers ranks) {
    ranks.group.communicator().barrier();
  }

  /** Measures one sum of 650,000 float32 over two ranks. */
  @Benchmark
  public float[] allReduce(Reductions ranks) {
    ranks.group.communicator().allReduce(ranks.values, ReduceOp.SUM);
    return ranks.values;
  }
}
