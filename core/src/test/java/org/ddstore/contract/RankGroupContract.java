// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

/**
 * The part of {@link StoreContract} that depends on how many ranks there are and how they meet: for
 * another number of ranks or other means of collectives, where rows take the same path.
 */
public abstract class RankGroupContract extends RankContract
    implements AddContract, EpochContract, LifetimeContract, CollectiveContract {
  /**
   * @param ranks number of ranks, at least 2
   */
  protected RankGroupContract(int ranks) {
    super(ranks);
  }
}
