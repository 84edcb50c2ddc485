// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import org.apache.spark.sql.SparkSession;
import org.ddstore.spark.types.OptionKeys;

/** The registration of the SQL catalog whose tables are the resident stores. */
final class SqlCatalog {
  /** Class name by which Spark loads the catalog: its setting takes a name, not a class. */
  private static final String CATALOG = "org.ddstore.spark.source.DDStoreCatalog";

  private SqlCatalog() {}

  /** Registers the catalog {@code ddstore} in a session, unless a catalog of this name exists. */
  static void register(SparkSession session) {
    if (session.conf().getOption(OptionKeys.SQL_CATALOG).isEmpty()) {
      session.conf().set(OptionKeys.SQL_CATALOG, CATALOG);
    }
  }
}
