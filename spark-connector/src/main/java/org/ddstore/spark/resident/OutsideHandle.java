// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.ddstore.Catalog;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.wire.connection.ReadClaims;
import org.ddstore.spark.wire.connection.ReadKey;

/**
 * One state of a resident store, with everything that a process outside of its application needs to
 * read its rows: the endpoints of the catalogs are data ports. Contains a read key, but not the
 * store's token. Immutable.
 */
public final class OutsideHandle extends StoreState {
  private static final long serialVersionUID = 1L;

  private final byte[] claims;
  private final byte[] key;
  private final String problem;

  /**
   * @param state state of the store; its catalogs are replaced
   * @param catalogs locations of the rows, whose endpoints are data ports, or null
   * @param problem why there is no data port; empty if there is one
   */
  OutsideHandle(
      StoreState state, List<Catalog> catalogs, ReadClaims claims, ReadKey key, String problem) {
    this(
        state.name(),
        state.version(),
        state.rows(),
        state.sourceSchema(),
        state.columns(),
        catalogs,
        state.digest(),
        claims,
        key,
        problem);
  }

  OutsideHandle(
      String name,
      long version,
      long rows,
      StructType sourceSchema,
      List<ColumnMapping> columns,
      List<Catalog> catalogs,
      String digest,
      ReadClaims claims,
      ReadKey key,
      String problem) {
    super(name, version, rows, sourceSchema, columns, catalogs, digest);
    this.claims = claims.toBytes();
    this.key = key.toBytes();
    this.problem = problem;
  }

  public ReadClaims claims() {
    return ReadClaims.parse(claims);
  }

  public ReadKey key() {
    return new ReadKey(key);
  }

  /** Returns why there is no data port; empty if there is one. */
  public String problem() {
    return problem;
  }
}
