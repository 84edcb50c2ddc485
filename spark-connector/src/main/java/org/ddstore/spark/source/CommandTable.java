// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.source;

import java.util.EnumSet;
import java.util.Set;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;
import org.ddstore.spark.DDStores;

/** The result of a {@link StoreCommand} as a table, or the ranks of a store. */
final class CommandTable implements SupportsRead {
  private static final StructType RESULT =
      new StructType().add("result", DataTypes.StringType, false);

  private final String store;
  private final boolean isRanks;

  CommandTable(CaseInsensitiveStringMap options) {
    this.store = ReadOptions.storeName(options);
    this.isRanks = isRanks(options);
  }

  /** Returns whether options are those of a command, not of a read of rows. */
  static boolean isCommand(CaseInsensitiveStringMap options) {
    return options.containsKey(StoreCommand.COMMAND);
  }

  static StructType schemaOf(CaseInsensitiveStringMap options) {
    return isRanks(options) ? RanksScan.SCHEMA : RESULT;
  }

  private static boolean isRanks(CaseInsensitiveStringMap options) {
    return StoreCommand.RANKS.equals(options.get(StoreCommand.COMMAND));
  }

  @Override
  public String name() {
    return "ddstore." + store;
  }

  @Override
  @Deprecated
  public StructType schema() {
    return isRanks ? RanksScan.SCHEMA : RESULT;
  }

  @Override
  public Set<TableCapability> capabilities() {
    return EnumSet.of(TableCapability.BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return isRanks
        ? () -> new RanksScan(DDStores.open(SparkSession.active(), store))
        : () -> new Result(options);
  }

  /** The scan of the result: runs the command when Spark plans a query. */
  private record Result(CaseInsensitiveStringMap options) implements LocalScan {
    @Override
    public StructType readSchema() {
      return RESULT;
    }

    @Override
    public InternalRow[] rows() {
      return new InternalRow[] {
        new GenericInternalRow(new Object[] {UTF8String.fromString(StoreCommand.result(options))})
      };
    }
  }
}
