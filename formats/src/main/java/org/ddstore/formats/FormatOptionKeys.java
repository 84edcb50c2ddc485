// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats;

/**
 * The keys of the options of all formats, as in {@code spark.read().format("npy").option(..)}
 * (docs/data.md). Keys, and values that are one of a few words, are not case-sensitive.
 *
 * <p>A list is separated by commas, and spaces around its parts are ignored. A shape is a list of
 * integers of at least 1, such as {@code 64,64}.
 */
public final class FormatOptionKeys {
  // All formats.

  /** Spark's key of the argument of {@code load(..)}: a file, a folder or a pattern. No default. */
  public static final String PATH = "path";

  /**
   * Spark's key of the arguments of {@code load(path1, path2, ..)}: a list of paths in JSON. No
   * default.
   */
  public static final String PATHS = "paths";

  /** Columns to read, a list; all columns by default. */
  public static final String COLUMNS = "columns";

  /**
   * Size of the values of a partition in memory, from 1,024 to 1,073,741,824 bytes; 33,554,432
   * bytes by default.
   */
  public static final String PARTITION_BYTES = "partitionBytes";

  // Formats npy, npz and idx.

  /**
   * Rows of {@code npy} and {@code npz}: {@code rows}, a row is an index of the first axis; {@code
   * samples}, a row is a file; {@code columns}, for {@code npy} only, the files of a folder are
   * columns. {@code rows} by default.
   */
  public static final String LAYOUT = "layout";

  /**
   * Name of the column of {@code npy}, which excludes the {@link #LAYOUT} {@code columns}, and of
   * an array of {@code idx} without labels; {@code value} by default.
   */
  public static final String COLUMN = "column";

  /**
   * Files of labels of {@code idx}: {@code paired}, they become a column of their images, or {@code
   * none}, each file is an array; {@code paired} by default.
   */
  public static final String LABELS = "labels";

  // Format images.

  /**
   * Height and width in pixels, a shape of two integers such as {@code 224,224}. By default, the
   * size of the images, which must all have the same.
   */
  public static final String SIZE = "size";

  /**
   * Change of an image to the {@link #SIZE}, which must be given: {@code resize}, {@code crop} or
   * {@code fit}; {@code resize} by default.
   */
  public static final String MODE = "mode";

  /** Number of channels: 1 (luma), 3 (RGB) or 4 (RGBA); 3 by default. */
  public static final String CHANNELS = "channels";

  /**
   * Treatment of images that cannot be decoded: {@code error}, or {@code drop}, they are left out;
   * {@code error} by default.
   */
  public static final String BROKEN = "broken";

  /**
   * Value of the column {@code label}: {@code name}, the name of the folder of the image; {@code
   * index}, the index of that name among those of all images; {@code none}, no such column. {@code
   * name} by default.
   */
  public static final String LABEL = "label";

  // Format files.

  /** Endings of the names of files in folders, a list, in any case; all files by default. */
  public static final String SUFFIX = "suffix";

  // Formats anndata and h5ad.

  /**
   * Form of {@code X} and of the layers: {@code stored}, {@code dense}, {@code sparse}, or {@code
   * none}, which leaves {@code X} out; {@code stored} by default.
   */
  public static final String X = "x";

  /**
   * Columns of {@code obs} to read, a list; {@code *} for all, empty for none; {@code *} by
   * default.
   */
  public static final String OBS = "obs";

  /** Layers to read, a list; {@code *} for all, empty for none; none by default. */
  public static final String LAYERS = "layers";

  /** Arrays of {@code obsm} to read, a list; {@code *} for all, empty for none; none by default. */
  public static final String OBSM = "obsm";

  /** Form of categorical columns: {@code text} or {@code codes}; {@code text} by default. */
  public static final String CATEGORICALS = "categoricals";

  /**
   * Genes of several files: {@code inner}, those of all files, or {@code outer}, those of any file;
   * {@code inner} by default.
   */
  public static final String JOIN = "join";

  /**
   * Treatment of columns of {@code obs} that some files lack: {@code error}, or {@code null}, the
   * value of their rows; {@code error} by default.
   */
  public static final String MISSING = "missing";

  /**
   * Folder whose files the links in a file or group may name: external links of HDF5, symbolic
   * links in groups of zarr; an absolute path. Links that lead out are refused by default.
   */
  public static final String LINKS = "links";

  // Format zarr.

  /**
   * Paths of the arrays in the group, a list. By default those of {@link #COLUMNS}, or all arrays.
   */
  public static final String ARRAYS = "arrays";

  /**
   * Lengths of the leading axes of a sample, a shape that fits into every array; other axes are
   * complete. By default, a row is an index of the first axis.
   */
  public static final String BOX = "box";

  /**
   * Distance of tiles, a shape with as many integers as {@link #BOX}, which must be given. Excludes
   * {@link #CROPS}. The box by default.
   */
  public static final String STRIDE = "stride";

  /**
   * Tiles at the end of an axis that the array does not fill: {@code drop} leaves them out, {@code
   * shift} moves the last one back. Needs {@link #BOX} and excludes {@link #CROPS}. {@code drop} by
   * default.
   */
  public static final String EDGE = "edge";

  /**
   * Number of random boxes of each volume, an integer of at least 1. Needs {@link #BOX}. Tiles
   * instead of random boxes by default.
   */
  public static final String CROPS = "crops";

  /** Seed of {@link #CROPS}, which must be given, a 64-bit integer; 0 by default. */
  public static final String SEED = "seed";

  /** Epoch of {@link #CROPS}, which must be given, an integer of at least 0; 0 by default. */
  public static final String EPOCH = "epoch";

  private FormatOptionKeys() {}
}
