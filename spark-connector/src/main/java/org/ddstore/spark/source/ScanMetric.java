// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.ddstore.types.ReadPath;

/** A scan metric in Spark's SQL tab. Spark creates subclasses by name: public, no arguments. */
abstract class ScanMetric extends CustomSumMetric {
  private final String name;
  private final String description;

  ScanMetric(String name, String description) {
    this.name = name;
    this.description = description;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final String description() {
    return description;
  }

  static CustomMetric[] all() {
    return new CustomMetric[] {
      new RowsRead(),
      new BytesRead(),
      new OwnProcessRows(),
      new SameHostRows(),
      new RemoteRowsRead(),
      new RowsSkipped(),
      new WaitTime(),
      new ReadTime()
    };
  }

  static CustomTaskMetric[] values(ReadCounts counts) {
    return new CustomTaskMetric[] {
      new Value(RowsRead.NAME, counts.rows()),
      new Value(BytesRead.NAME, counts.bytes()),
      new Value(OwnProcessRows.NAME, counts.rows(ReadPath.OWN_PROCESS)),
      new Value(SameHostRows.NAME, counts.rows(ReadPath.SAME_HOST)),
      new Value(RemoteRowsRead.NAME, counts.rows(ReadPath.REMOTE)),
      new Value(WaitTime.NAME, counts.waitNanos()),
      new Value(ReadTime.NAME, counts.readNanos())
    };
  }

  /** Returns the values that the driver knows when it plans a scan. */
  static CustomTaskMetric[] ofDriver(long rowsSkipped) {
    return new CustomTaskMetric[] {new Value(RowsSkipped.NAME, rowsSkipped)};
  }

  private record Value(String name, long value) implements CustomTaskMetric {}

  /** A time of which tasks report nanoseconds, and Spark shows milliseconds. */
  private abstract static class Time extends ScanMetric {
    Time(String name, String description) {
      super(name, description);
    }

    @Override
    public String aggregateTaskMetrics(long[] taskNanos) {
      LongSummaryStatistics all = LongStream.of(taskNanos).summaryStatistics();
      return String.format(
          Locale.ROOT,
          "%,d ms (slowest task %,d ms)",
          TimeUnit.NANOSECONDS.toMillis(all.getSum()),
          TimeUnit.NANOSECONDS.toMillis(Math.max(0, all.getMax())));
    }
  }

  /** Time of the batches with rows of other hosts, nearly all of it waiting. */
  public static final class WaitTime extends Time {
    static final String NAME = "ddstoreWaitTime";

    public WaitTime() {
      super(NAME, "time waiting for rows of other hosts");
    }
  }

  /** Time in which tasks found and copied rows, without {@link WaitTime}. */
  public static final class ReadTime extends Time {
    static final String NAME = "ddstoreReadTime";

    public ReadTime() {
      super(NAME, "time reading rows");
    }
  }

  /** Number of rows that conditions on the index leave out. */
  public static final class RowsSkipped extends ScanMetric {
    static final String NAME = "ddstoreRowsSkipped";

    public RowsSkipped() {
      super(NAME, "rows skipped by the index");
    }
  }

  /** Number of rows of which at least one field was read. */
  public static final class RowsRead extends ScanMetric {
    static final String NAME = "ddstoreRows";

    public RowsRead() {
      super(NAME, "rows read from shards");
    }
  }

  public static final class BytesRead extends ScanMetric {
    static final String NAME = "ddstoreBytes";

    public BytesRead() {
      super(NAME, "bytes read from shards");
    }
  }

  /** Number of rows in memory of the executor that read them. */
  public static final class OwnProcessRows extends ScanMetric {
    static final String NAME = "ddstoreRowsOwnProcess";

    public OwnProcessRows() {
      super(NAME, "rows read from memory of the own process");
    }
  }

  /** Number of rows in memory of another executor on the same host. */
  public static final class SameHostRows extends ScanMetric {
    static final String NAME = "ddstoreRowsSameHost";

    public SameHostRows() {
      super(NAME, "rows read from memory of the same host");
    }
  }

  public static final class RemoteRowsRead extends ScanMetric {
    static final String NAME = "ddstoreRowsRemote";

    public RemoteRowsRead() {
      super(NAME, "rows read over the network");
    }
  }
}
