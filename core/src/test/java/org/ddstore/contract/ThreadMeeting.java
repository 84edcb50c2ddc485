// SPDX-License-Identifier: Apache-2.0
package org.ddstore.contract;

import org.ddstore.collective.Communicator;

/**
 * The meeting of ranks that are threads.
 *
 * @param control of the same ranks, for this alone
 */
record ThreadMeeting(Communicator control) implements Meeting {
  @Override
  public int rank() {
    return control.rank();
  }

  @Override
  public int ranks() {
    return control.size();
  }

  @Override
  public String address() {
    return Place.HERE.address();
  }

  @Override
  public boolean sharesHost(int other) {
    return true;
  }

  @Override
  public byte[][] tell(byte[] mine) {
    return control.allGather(mine);
  }

  @Override
  public void act(String name) {
    throw new IllegalStateException(
        "\"" + name + "\": ranks that are threads have no test beside them; run them as processes");
  }
}
