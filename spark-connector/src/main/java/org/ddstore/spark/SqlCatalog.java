package org.ddstore.spark;

import org.apache.spark.sql.SparkSession;

/** Makes resident stores known to SQL, as the tables of a catalog. */
final class SqlCatalog {
  private static final String KEY = "spark.sql.catalog.ddstore";

  /** By name: that package knows this one. */
  private static final String CATALOG = "org.ddstore.spark.source.DDStoreCatalog";

  private SqlCatalog() {}

  /** Configures the catalog {@code ddstore} in a session, unless the user has one of this name. */
  static void register(SparkSession session) {
    if (session.conf().getOption(KEY).isEmpty()) {
      session.conf().set(KEY, CATALOG);
    }
  }
}
