// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

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
      new RemoteRowsRead()
    };
  }

  static CustomTaskMetric[] values(ReadCounts counts) {
    return new CustomTaskMetric[] {
      new Value(RowsRead.NAME, counts.rows()),
      new Value(BytesRead.NAME, counts.bytes()),
      new Value(OwnProcessRows.NAME, counts.rows(ReadPath.OWN_PROCESS)),
      new Value(SameHostRows.NAME, counts.rows(ReadPath.SAME_HOST)),
      new Value(RemoteRowsRead.NAME, counts.rows(ReadPath.REMOTE))
    };
  }

  private record Value(String name, long value) implements CustomTaskMetric {}

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
