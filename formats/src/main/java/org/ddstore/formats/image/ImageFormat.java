// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * JPEG and PNG, each of them a row: samples of a fixed shape, the path, and the folder's name as a
 * label. Images are decoded when rows are read. They are also decoded before, once, if broken ones
 * are to be dropped, because the numbers of the rows depend on it; without a size, headers are read
 * before; otherwise no file is opened before its row is read.
 */
public final class ImageFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  private static final Logger LOG = LoggerFactory.getLogger(ImageFormat.class);

  static final String IMAGE = "image";
  static final String PATH = "path";
  static final String LABEL = "label";

  @Override
  public String name() {
    return "images";
  }

  @Override
  public String description() {
    return "JPEG and PNG, decoded to arrays of one shape";
  }

  @Override
  public List<String> suffixes() {
    return List.of(".jpg", ".jpeg", ".jpe", ".jfif", ".png");
  }

  @Override
  public Set<String> options() {
    return ImageOptions.KEYS;
  }

  @Override
  public void check(FormatOptions options) {
    ImageOptions.of(options);
  }

  /** The names of all folders with images, in order; they are labels. */
  record Labels(List<String> names) implements Serializable {}

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    ImageOptions chosen = ImageOptions.of(options);
    ImageOptions.Size size;
    try {
      if (chosen.broken() == ImageOptions.Broken.DROP) {
        PixelRows image = ImageDecoder.decode(file, chosen);
        size = chosen.size().orElse(new ImageOptions.Size(image.height(), image.width()));
        ImageShaper.requireCovers(file, image, chosen);
      } else if (chosen.size().isPresent()) {
        size = chosen.size().get();
      } else {
        size = ImageDecoder.size(file);
      }
    } catch (BrokenImageException e) {
      if (chosen.broken() == ImageOptions.Broken.DROP) {
        LOG.warn("image {} is dropped: {}", file.path(), e.getMessage());
        return null;
      }
      throw broken(file, e);
    }
    return new FileFacts(file, 1, 1, columns(size, chosen), null);
  }

  @Override
  public boolean readsContentToInspect(InputFile file, FormatOptions options) {
    return ImageOptions.of(options).broken() == ImageOptions.Broken.DROP;
  }

  static FormatException broken(InputFile file, BrokenImageException cause) {
    return new FormatException(
        file.path(),
        "%s%s; option \"%s\" = drop leaves such files out"
            .formatted(
                cause instanceof LargeImageException ? "" : "broken image: ",
                cause.getMessage(),
                FormatOptionKeys.BROKEN),
        cause);
  }

  private static List<SampleColumn> columns(ImageOptions.Size size, ImageOptions options) {
    List<SampleColumn> columns = new ArrayList<>();
    columns.add(
        SampleColumn.fixed(
            IMAGE, ElementType.UINT8, size.height(), size.width(), options.channels()));
    columns.add(SampleColumn.fixed(PATH, ElementType.TEXT));
    if (options.label() == ImageOptions.Label.NAME) {
      columns.add(SampleColumn.fixed(LABEL, ElementType.TEXT));
    } else if (options.label() == ImageOptions.Label.INDEX) {
      columns.add(SampleColumn.fixed(LABEL, ElementType.INT32));
    }
    return columns;
  }

  @Override
  public Layout layout(List<FileFacts> files, FormatOptions options) {
    List<SampleColumn> columns = files.get(0).columns();
    for (FileFacts other : files) {
      if (!other.columns().equals(columns)) {
        throw new FormatException(
            other.file().path(),
            "is %s, but %s is %s: set option \"%s\", such as 224,224"
                .formatted(
                    other.columns().get(0),
                    files.get(0).file().path(),
                    columns.get(0),
                    FormatOptionKeys.SIZE));
      }
    }
    List<String> labels =
        ImageOptions.of(options).label() == ImageOptions.Label.INDEX
            ? files.stream().map(facts -> facts.file().folderName()).distinct().sorted().toList()
            : List.of();
    return new Layout(columns, new Labels(labels));
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options) {
    return new ImageRowReader(
        facts.file(), layout.columns(), (Labels) layout.details(), ImageOptions.of(options));
  }
}
