// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.source;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.SampleFormat;

/**
 * The data source of one format. A subclass with a constructor without parameters registers it
 * under the name of the format.
 */
public abstract class SampleSource implements TableProvider, DataSourceRegister {
  private final SampleFormat format;

  /** The plan of the last call; Spark asks for schema and table one after the other. */
  private SampleTable planned;

  private Map<String, String> plannedFor;

  protected SampleSource(SampleFormat format) {
    this.format = Objects.requireNonNull(format, "format is null");
  }

  @Override
  public final String shortName() {
    return format.name();
  }

  /**
   * Returns the facts of the files of a read, in the active session.
   *
   * @throws IllegalArgumentException if an option is illegal
   * @throws org.ddstore.formats.FormatException if a file cannot be read
   */
  protected final List<FileFacts> inspect(CaseInsensitiveStringMap options) {
    return SampleTable.plan(format, options).files();
  }

  @Override
  public final StructType inferSchema(CaseInsensitiveStringMap options) {
    planned = SampleTable.plan(format, options);
    plannedFor = options.asCaseSensitiveMap();
    return planned.schema();
  }

  @Override
  public final Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    if (planned == null || !properties.equals(plannedFor)) {
      inferSchema(new CaseInsensitiveStringMap(properties));
    }
    return planned;
  }
}
