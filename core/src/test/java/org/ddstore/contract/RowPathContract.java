// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

/**
 * The part of {@link StoreContract} that depends on how the bytes of a row reach its reader: for a
 * second placement of ranks, where rows take another path to the same backing or by the same
 * transport.
 */
public abstract class RowPathContract extends RankContract
    implements ReadContract,
        ChangingIndicesContract,
        DestinationContract,
        RecordContract,
        EpochContract,
        AttachContract,
        AdoptContract,
        RecordMemoryContract,
        TogetherContract {
  /**
   * @param ranks number of ranks, at least 2
   */
  protected RowPathContract(int ranks) {
    super(ranks);
  }
}
