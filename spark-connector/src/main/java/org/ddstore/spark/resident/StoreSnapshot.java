// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.resident;

import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.ddstore.spark.config.Settings;
import org.ddstore.spark.types.ColumnMapping;
import org.ddstore.spark.wire.connection.StoreToken;
import org.ddstore.types.ProcessAddress;

/**
 * One state of a resident store, with everything that a process of its application needs to read
 * its rows. Contains the token, with which any process can read and control the store. Immutable.
 */
public final class StoreSnapshot extends StoreState {
  private static final long serialVersionUID = 1L;

  private final StoreToken token;
  private final Settings settings;
  private final byte[] driver;

  /**
   * @param driver address of the driver in the store's session
   * @param sourceSchema stored columns of the DataFrame
   * @param columns fields of each leaf of the source schema
   * @param layout locations of the rows
   */
  public StoreSnapshot(
      String name,
      StoreToken token,
      Settings settings,
      ProcessAddress driver,
      StructType sourceSchema,
      List<ColumnMapping> columns,
      ResidentLayout layout) {
    super(
        name,
        layout.version(),
        layout.rows(),
        sourceSchema,
        columns,
        layout.catalogs(),
        layout.digest());
    this.token = token;
    this.settings = settings;
    this.driver = driver.toBytes();
  }

  /** Returns the address of the driver in the store's session. */
  ProcessAddress driver() {
    return ProcessAddress.parse(driver);
  }

  /** Returns the secret that the store's processes require of each reader. */
  public StoreToken token() {
    return token;
  }

  public Settings settings() {
    return settings;
  }
}
