// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.util.Optional;
import java.util.Set;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.source.EnumOption;

/**
 * The options of a read of images.
 *
 * @param size height and width; empty if all images must have the same
 */
record ImageOptions(Optional<Size> size, Mode mode, int channels, Broken broken, Label label) {
  static final Set<String> KEYS =
      Set.of(
          FormatOptionKeys.SIZE,
          FormatOptionKeys.MODE,
          FormatOptionKeys.CHANNELS,
          FormatOptionKeys.BROKEN,
          FormatOptionKeys.LABEL);

  private static final int RGB = 3;

  /** Height and width in pixels. */
  record Size(int height, int width) {}

  /** The method that fits an image to the size. */
  enum Mode {
    /** Scaled to the size; its proportions change. */
    RESIZE,
    /** The centre of the size is cut out; smaller images are an error. */
    CROP,
    /** Scaled in proportion until it covers the size; then the centre is cut out. */
    FIT
  }

  /** The handling of images that cannot be decoded. */
  enum Broken {
    ERROR,
    DROP
  }

  /** The column {@code label}. */
  enum Label {
    /** Name of the folder that contains the image. */
    NAME,
    /** Index of that name among those of all images, ordered by their characters. */
    INDEX,
    /** No such column. */
    NONE
  }

  static ImageOptions of(FormatOptions options) {
    Optional<Size> size =
        options
            .shape(FormatOptionKeys.SIZE)
            .map(
                shape -> {
                  if (shape.length != 2) {
                    throw new IllegalArgumentException(
                        "option \"%s\" is \"%s\", not a height and a width such as 224,224"
                            .formatted(
                                FormatOptionKeys.SIZE, options.text(FormatOptionKeys.SIZE).get()));
                  }
                  return new Size(shape[0], shape[1]);
                });
    if (size.isEmpty() && options.text(FormatOptionKeys.MODE).isPresent()) {
      throw new IllegalArgumentException(
          "option \"%s\" is \"%s\", but needs option \"%s\", such as 224,224"
              .formatted(
                  FormatOptionKeys.MODE,
                  options.text(FormatOptionKeys.MODE).get(),
                  FormatOptionKeys.SIZE));
    }
    return new ImageOptions(
        size,
        EnumOption.of(options, FormatOptionKeys.MODE, Mode.RESIZE, Mode.values()),
        Integer.parseInt(
            options.choice(FormatOptionKeys.CHANNELS, String.valueOf(RGB), "1", "3", "4")),
        EnumOption.of(options, FormatOptionKeys.BROKEN, Broken.ERROR, Broken.values()),
        EnumOption.of(options, FormatOptionKeys.LABEL, Label.NAME, Label.values()));
  }
}
