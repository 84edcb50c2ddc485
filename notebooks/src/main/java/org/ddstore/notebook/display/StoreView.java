// SPDX-License-Identifier: Apache-2.0
package org.ddstore.notebook.display;

import java.util.List;
import java.util.Locale;
import org.ddstore.spark.ResidentStore;
import org.ddstore.spark.types.ResidentShard;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** Stores and schemas as tables. */
final class StoreView {
  private static final double MEBIBYTE = 1 << 20;

  private StoreView() {}

  static MimeBundle render(ResidentStore store) {
    if (store.isDropped()) {
      return MimeBundle.text(store.toString());
    }
    List<String> executors =
        store.shards().stream()
            .filter(shard -> !shard.isLost())
            .map(ResidentShard::executorId)
            .distinct()
            .sorted()
            .toList();
    long lost = store.shards().stream().filter(ResidentShard::isLost).count();
    TextTable facts =
        new TextTable(
            List.of(List.of("store", store.name())),
            List.of(
                List.of("rows", "%,d".formatted(store.rows())),
                List.of("memory", mebibytes(store.bytes())),
                List.of(
                    "ranks", "%d, %d in a replica group".formatted(store.ranks(), store.width())),
                List.of("executors", String.join(", ", executors)),
                List.of("lost shards", Long.toString(lost)),
                List.of("digest", store.digest())));
    TextTable fields = fields(store.schema());
    return MimeBundle.html(
        facts.text() + "\n\n" + fields.text(), facts.html() + "\n" + fields.html());
  }

  private static String mebibytes(long bytes) {
    return String.format(Locale.ROOT, "%,.1f MiB", bytes / MEBIBYTE);
  }

  static MimeBundle render(Schema schema) {
    TextTable fields = fields(schema);
    return MimeBundle.html(fields.text(), fields.html());
  }

  private static TextTable fields(Schema schema) {
    return new TextTable(
        List.of(List.of("field", "type", "bytes")),
        schema.fields().stream().map(StoreView::row).toList());
  }

  private static List<String> row(Field field) {
    String bytes = field.isRagged() ? "varies" : "%,d".formatted(field.bytes());
    return List.of(field.name(), field.typeText(), bytes);
  }
}
