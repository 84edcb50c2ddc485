// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

/**
 * The whole contract of a store, but for {@link LargeStoreContract}; a subclass chooses the
 * backend. Run it once for each backing and each transport. A second subclass, which differs by the
 * number of ranks or their placement only, runs the part that can differ: {@link RowPathContract}
 * or {@link RankGroupContract}.
 */
public abstract class StoreContract extends RankContract
    implements AddContract,
        TypeContract,
        ReadContract,
        ChangingIndicesContract,
        DestinationContract,
        RecordContract,
        EpochContract,
        LifetimeContract,
        CollectiveContract,
        ReportContract,
        AttachContract,
        AdoptContract,
        RecordMemoryContract,
        TogetherContract,
        LoaderContract {
  /**
   * @param ranks number of ranks, at least 2
   */
  protected StoreContract(int ranks) {
    super(ranks);
  }
}
