// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.ArrayList;
import java.util.List;
import org.ddstore.PackedRows;

/** The records of a store byte for byte, as the driver reads them. */
final class PackedRecords {
  private PackedRecords() {}

  static List<byte[]> of(ResidentStore store) {
    List<byte[]> records = new ArrayList<>();
    try (StoreReader reader = store.handle().attach()) {
      PackedRows.forEach(
          reader.rows(),
          0,
          store.rows(),
          record -> {
            byte[] bytes = new byte[record.remaining()];
            record.get(bytes);
            records.add(bytes);
          });
    }
    return records;
  }
}
