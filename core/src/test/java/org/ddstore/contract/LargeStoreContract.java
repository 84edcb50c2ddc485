// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

/** The whole contract with sizes above 2 GiB, once for each backing and each transport. */
public abstract class LargeStoreContract extends StoreContract implements LargeContract {
  /**
   * @param ranks number of ranks, at least 2
   */
  protected LargeStoreContract(int ranks) {
    super(ranks);
  }
}
