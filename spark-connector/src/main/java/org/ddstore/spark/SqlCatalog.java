package org.ddstore.spark;

import org.apache.spark.sql.SparkSession;

/** The registration of the SQL catalog whose tables are the resident stores. */
final class SqlCatalog {
  private static final String KEY = "spark.sql.catalog.ddstore";

  /** Class name of the catalog; a reference to the class would make a cycle between packages. */
  private static final String CATALOG = "org.ddstore.spark.source.DDStoreCatalog";

  private SqlCatalog() {}

  /** Registers the catalog {@code ddstore} in a session, unless a catalog of this name exists. */
  static void register(SparkSession session) {
    if (session.conf().getOption(KEY).isEmpty()) {
      session.conf().set(KEY, CATALOG);
    }
  }
}
