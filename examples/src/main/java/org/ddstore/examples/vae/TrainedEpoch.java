// SPDX-License-Identifier: Apache-2.0
package org.ddstore.examples.vae;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;

/**
 * The result of one epoch over all ranks.
 *
 * @param loss mean loss of the training images
 * @param testLoss mean loss of the test images, after the epoch
 * @param mismatches delivered images that differ from the source
 * @param isExact whether both receipts are exact
 * @param receipt coverage receipt of the training images
 * @param testReceipt coverage receipt of the test images
 */
record TrainedEpoch(
    double loss,
    double testLoss,
    long mismatches,
    boolean isExact,
    String receipt,
    String testReceipt)
    implements Serializable {
  /** Returns the result as text. */
  String text() {
    return "loss %.2f, of test images %.2f; %s".formatted(loss, testLoss, receipt);
  }

  void write(DataOutputStream to) throws IOException {
    to.writeDouble(loss);
    to.writeDouble(testLoss);
    to.writeLong(mismatches);
    to.writeBoolean(isExact);
    to.writeUTF(receipt);
    to.writeUTF(testReceipt);
  }

  static TrainedEpoch read(DataInputStream from) throws IOException {
    return new TrainedEpoch(
        from.readDouble(),
        from.readDouble(),
        from.readLong(),
        from.readBoolean(),
        from.readUTF(),
        from.readUTF());
  }
}
