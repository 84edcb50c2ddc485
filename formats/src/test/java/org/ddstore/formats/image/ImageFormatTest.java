// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.IntBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.ddstore.formats.FormatSpark;
import org.ddstore.formats.LeftOutFiles;
import org.ddstore.formats.Python;
import org.ddstore.formats.StoredRecords;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Images that Pillow wrote are decoded and scaled as Pillow does it. */
class ImageFormatTest {
  /** Largest difference of a sample of JPEG between two decoders that round differently. */
  private static final int JPEG_TOLERANCE = 2;

  @TempDir static Path folder;

  @BeforeAll
  static void write() {
    Python.run(
        folder,
        """
        import io, numpy as np, os, zlib, struct
        from PIL import Image, ImageCms
        rng = np.random.default_rng(3)
        H, W = 13, 17
        def noise(*shape): return rng.integers(0, 256, shape, dtype=np.uint8)
        def smooth(h, w, c):
            y, x = np.mgrid[0:h, 0:w]
            return np.stack([(x * 7 + y * (3 + i)) % 256 for i in range(c)], -1).astype(np.uint8)
        def dump(path, im, rgb=None):
            rgb = rgb or im.convert('RGB')
            grey = im.convert('L') if im.mode in ('1', 'L', 'LA') else rgb.convert('L')
            np.array(grey).tofile(path + '.1'); np.array(rgb).tofile(path + '.3')
            np.array(im.convert('RGBA') if im.mode != 'RGB' else rgb.convert('RGBA')).tofile(path + '.4')
        os.mkdir('png'); os.mkdir('jpg'); os.mkdir('dump')
        modes = dict(l=Image.fromarray(noise(H, W)), rgb=Image.fromarray(noise(H, W, 3)),
            rgba=Image.fromarray(noise(H, W, 4)), la=Image.fromarray(noise(H, W, 2), 'LA'),
            bit=Image.fromarray((noise(H, W) > 127).astype(np.uint8) * 255).convert('1'))
        modes['p'] = modes['rgb'].quantize(200); modes['p4'] = modes['rgb'].quantize(13)
        modes['palpha'] = modes['rgba'].quantize(50)
        for name, im in modes.items():
            path = '%s.png' % name
            im.save('png/' + path)
            dump('dump/' + path, Image.open('png/' + path))
        def png16(path, a, color, interlace=0):
            h, w = a.shape[:2]
            def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
            rows = b''.join(b'\\0' + a[y].astype('>u2').tobytes() for y in range(h))
            open(path, 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 16, color, 0, 0, 0))
                + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
        grey16 = rng.integers(0, 65536, (H, W), dtype=np.uint16); png16('png/grey16.png', grey16, 0)
        dump('dump/grey16.png', Image.fromarray((grey16 >> 8).astype(np.uint8)))
        rgb16 = rng.integers(0, 65536, (H, W, 3), dtype=np.uint16); png16('png/rgb16.png', rgb16, 2)
        dump('dump/rgb16.png', Image.fromarray((rgb16 >> 8).astype(np.uint8)))
        for name, sampling in [('444', 0), ('420', 2)]:
            Image.fromarray(smooth(H, W, 3)).save('jpg/%s.jpg' % name, quality=90, subsampling=sampling)
        Image.fromarray(smooth(H, W, 1)[:, :, 0]).save('jpg/grey.JPEG', quality=80, progressive=True)
        for name in os.listdir('jpg'): dump('dump/' + name, Image.open('jpg/' + name))

        # JPEG with profiles that would change samples, and with other markers than JFIF
        def segment(code, data): return bytes([255, code]) + struct.pack('>H', len(data) + 2) + data
        def profile(*parts): return b''.join(segment(0xE2, b'ICC_PROFILE\\0' + part) for part in parts)
        def jpeg(im, **options):
            out = io.BytesIO(); im.save(out, 'JPEG', quality=95, **options); return out.getvalue()[20:]
        def with_ids(jpeg, *ids):
            jpeg = bytearray(jpeg); frame = jpeg.find(b'\\xff\\xc0') + 10; scan = jpeg.find(b'\\xff\\xda') + 5
            for i in range(3): jpeg[frame + 3 * i] = jpeg[scan + 2 * i] = ids[i]
            return bytes(jpeg)
        icc = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes().replace(b'\\0\\2\\x66\\x66', b'\\0\\1\\0\\0')
        grey_icc = icc[:16] + b'GRAY' + icc[20:].replace(b'rTRC', b'kTRC')
        colours = Image.fromarray(smooth(H, W, 3)); rgb = jpeg(colours, subsampling=0); grey = jpeg(colours.convert('L'))
        sof = rgb.find(b'\\xff\\xc0'); after = sof + 2 + rgb[sof + 3]
        jfif = segment(0xE0, b'JFIF\\0\\1\\1\\0\\0\\1\\0\\1\\0\\0')
        def adobe(transform): return segment(0xEE, b'Adobe\\0d\\0\\0\\0\\0' + bytes([transform]))
        odd = dict(rgb_icc=jfif + profile(b'\\1\\1' + icc) + rgb, grey_icc=jfif + profile(b'\\1\\1' + grey_icc) + grey,
            icc_twice=jfif + profile(b'\\1\\2' + icc[:200], b'\\1\\2' + icc[200:]) + rgb, icc_cut=profile(b'\\1\\1' + icc[:99]) + rgb,
            icc_after_sof=jfif + rgb[:after] + profile(b'\\1\\1' + icc) + rgb[after:],
            icc_progressive=jfif + profile(b'\\1\\1' + icc) + jpeg(colours, progressive=True), junk=jfif + b'\\0\\1\\2' + rgb)
        for ids in [(0, 1, 2), (1, 2, 3), (82, 71, 66), (66, 71, 82)]:
            data = with_ids(rgb, *ids)
            for name, head in dict(none=b'', exif=segment(0xE1, b'Exif\\0\\0MM\\0*\\0\\0\\0\\10' + bytes(6)), jfif=jfif, adobe0=adobe(0), adobe1=adobe(1), both=jfif + adobe(0)).items():
                odd['%s_%d_%d_%d' % (name, *ids)] = head + data
        os.mkdir('odd')
        for name, data in odd.items():
            name += '.jpg'; open('odd/' + name, 'wb').write(b'\\xff\\xd8' + data); dump('dump/' + name, Image.open('odd/' + name))

        # bytes before each marker but the last; scans without end
        os.mkdir('junk'); os.mkdir('scans')
        def markers(jpeg):
            at = 2
            while jpeg[at + 1] != 0xD9:
                yield at
                scan = jpeg[at + 1] == 0xDA; at += 2 + struct.unpack('>H', jpeg[at + 2:at + 4])[0]
                while scan and (jpeg[at] != 255 or jpeg[at + 1] == 0): at += 1
            yield at
        for name, options in dict(one=dict(), many=dict(progressive=True)).items():
            out = io.BytesIO(); colours.save(out, 'JPEG', **options); data = out.getvalue()
            open('junk/%s.jpg' % name, 'wb').write(data)
            for at in list(markers(data))[1:-1]: open('junk/%s_%d.jpg' % (name, at), 'wb').write(data[:at] + b'\\0\\1\\2' + data[at:])
        def scans(path, size, count):
            out = io.BytesIO(); Image.new('L', (size, size), 128).save(out, 'JPEG', progressive=True); data = out.getvalue()
            last = data[data.rfind(b'\\xff\\xda'):-2]; open(path, 'wb').write(data[:-2] + last * (count - data.count(b'\\xff\\xda')) + data[-2:])
        scans('scans/100.jpg', 64, 100); scans('101.jpg', 64, 101); scans('large.jpg', 8192, 65)
        os.makedirs('photos/_old'); os.makedirs('photos/_temporary')
        for name in ['IMG_1.JPG', '_DSC2.JPG', 'a.jfif', 'b.jpe', '.hidden.jpg', '_old/x.jpg', '_temporary/x.jpg']:
            colours.save('photos/' + name, format='JPEG')
        for name in ['_SUCCESS', 'c.webp', '.DS_Store']: open('photos/' + name, 'wb').close()

        os.makedirs('tree/dog'); os.makedirs('tree/cat')
        sizes = [(37, 53), (64, 20), (24, 16), (100, 101)]
        for i in range(40):
            h, w = sizes[i % 4]
            Image.fromarray(noise(h, w, 3)).save('tree/%s/%02d.png' % (['dog', 'cat'][i % 2], i))
        names = sorted('tree/%s/%s' % (d, f) for d in ['cat', 'dog'] for f in os.listdir('tree/' + d))
        def fit(im):
            scale = max(24 / im.height, 16 / im.width)
            size = (max(16, int(im.width * scale + 0.5)), max(24, int(im.height * scale + 0.5)))
            return centre(im.resize(size, Image.BILINEAR))
        def centre(im):
            x, y = (im.width - 16) // 2, (im.height - 24) // 2
            return im.crop((x, y, x + 16, y + 24))
        shaped = dict(resize=lambda im: im.resize((16, 24), Image.BILINEAR), fit=fit, crop=centre)
        for mode, shape in shaped.items():
            np.stack([np.array(shape(Image.open(n))) for n in names]).tofile(mode + '.bin')
        Image.fromarray(noise(5, 7)).save('small.png')
        Image.open('small.png').resize((70, 50), Image.BILINEAR).tobytes()
        np.array(Image.open('small.png').resize((70, 50), Image.BILINEAR)).tofile('enlarged.bin')

        os.mkdir('broken')
        Image.fromarray(smooth(40, 40, 3)).save('broken/a.png'); Image.fromarray(smooth(40, 40, 3)).save('broken/z.jpg')
        Image.fromarray(noise(40, 40, 4), 'CMYK').save('broken/cmyk.jpg')
        for name in ['a.png', 'z.jpg']:
            b = open('broken/' + name, 'rb').read(); open('broken/cut' + name, 'wb').write(b[:len(b) // 2])
            open('broken/end' + name, 'wb').write(b[:-60])
        open('broken/empty.png', 'wb').close(); open('broken/text.jpg', 'w').write('no image')
        Image.fromarray(noise(4, 4)).save('broken/fake.tmp', format='GIF'); os.rename('broken/fake.tmp', 'broken/gif.png')
        b = bytearray(open('broken/a.png', 'rb').read()); b[16:24] = b'\\x7f\\xff\\xff\\xff\\x7f\\xff\\xff\\xff'
        b[29:33] = struct.pack('>I', zlib.crc32(b[12:29]))
        open('broken/vast.png', 'wb').write(b)
        def flat(path, w, h, bits):
            def chunk(kind, data): return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
            open(path, 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, bits, 0, 0, 0, 0))
                + chunk(b'zTXt', b'k\\0\\0' + zlib.compress(bytes(1 << 20))) + chunk(b'IDAT', zlib.compress((b'\\0' + b'\\xff' * (w * bits // 8)) * h, 9)) + chunk(b'IEND', b''))
        flat('broken/wide.png', 1 << 28, 1, 1); flat('strip.png', 1000000, 2, 8)
        b = bytearray(open('broken/z.jpg', 'rb').read()); at = b.find(b'\\xff\\xc0') + 5; b[at:at + 4] = b'\\x3f\\xff\\x3f\\xff'
        open('broken/claim.jpg', 'wb').write(b)
        """);
  }

  private static Dataset<Row> read(String path, String... options) {
    return FormatSpark.read("images", folder.resolve(path), options);
  }

  @ParameterizedTest
  @CsvSource({"1", "3", "4"})
  void decodesThePixelsOfPillow(int channels) throws IOException {
    List<Row> images = read("png", "channels", "" + channels, "label", "none").collectAsList();

    assertThat(images).hasSize(10);
    for (Row image : images) {
      String path = image.getString(1);
      assertThat((byte[]) image.get(0))
          .as(path)
          .isEqualTo(Files.readAllBytes(folder.resolve("dump/%s.%d".formatted(path, channels))));
    }
  }

  @ParameterizedTest
  @CsvSource({"jpg, 3", "odd, 31"})
  void decodesJpegAsPillowButForRounding(String path, int count) throws IOException {
    for (int channels : new int[] {1, 3, 4}) {
      List<Row> images = read(path, "channels", "" + channels).collectAsList();
      assertThat(images).hasSize(count);
      for (Row image : images) {
        byte[] expected =
            Files.readAllBytes(
                folder.resolve("dump/%s.%d".formatted(image.getString(1), channels)));
        byte[] found = (byte[]) image.get(0);
        assertThat(found).hasSameSizeAs(expected);
        for (int i = 0; i < expected.length; i++) {
          assertThat(Math.abs((found[i] & 0xFF) - (expected[i] & 0xFF)))
              .as("%s, sample %d", image.getString(1), i)
              .isLessThanOrEqualTo(JPEG_TOLERANCE);
        }
      }
    }
  }

  @Test
  void readsPastBytesBetweenMarkers() {
    List<Row> images = read("junk").collectAsList();

    assertThat(images).hasSizeGreaterThan(15);
    for (Row image : images) {
      String path = image.getString(1);
      Row sound = read("junk/" + path.replaceAll("_\\d+", "")).head();
      assertThat((byte[]) image.get(0)).as(path).isEqualTo((byte[]) sound.get(0));
    }
  }

  /** Each scan costs a pass over the picture, and few bytes. */
  @ParameterizedTest
  @CsvSource({"101.jpg, 101 scans of 64 x 64 pixels, 100", "large.jpg, 65 scans of 8192 x, 64"})
  void refusesMoreScansThanWritersMake(String file, String scans, int limit) {
    assertThatThrownBy(() -> read(file, "size", "8,8").collect())
        .hasStackTraceContaining(file + ": " + scans)
        .hasStackTraceContaining("limit of " + limit + " scans");
    assertThat(read("scans").collectAsList()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({"resize", "fit", "crop"})
  void shapesAsPillowAndGivesTheSameRowsToAnyNumberOfRanks(String mode) throws IOException {
    Dataset<Row> tree = read("tree", "size", "24,16", "mode", mode, "label", "index");

    StoredRecords one =
        mode.equals("fit") ? StoredRecords.ofAnyRanks(tree) : StoredRecords.of(tree, 1);

    assertThat(one.fields())
        .containsEntry("image", "uint8[24, 16, 3]")
        .containsEntry("label", "int32");
    assertThat(one.values().get("image"))
        .isEqualTo(Files.readAllBytes(folder.resolve(mode + ".bin")));
    IntBuffer labels = one.buffer("label").asIntBuffer();
    for (int row = 0; row < 40; row++) {
      assertThat(labels.get(row)).isEqualTo(row / 20);
    }
  }

  @Test
  void enlargesByInterpolation() throws IOException {
    Row image = read("small.png", "size", "50,70", "channels", "1").head();

    assertThat((byte[]) image.get(0)).isEqualTo(Files.readAllBytes(folder.resolve("enlarged.bin")));
    assertThat(image.getString(1)).isEqualTo("small.png");
  }

  @Test
  void namesPathsBelowTheFolderAndLabelsByTheFoldersOfFiles() {
    for (String path : List.of("tree", "tree/*/*.png", "tree/*")) {
      Row first = read(path, "size", "8,8").select("path", "label").head();
      assertThat(first.getString(0)).as(path).isEqualTo("cat/01.png");
      assertThat(first.getString(1)).isEqualTo("cat");
    }
  }

  @Test
  void dropsBrokenImagesAndTellsWhich() {
    Dataset<Row> kept = read("broken", "broken", "drop");

    assertThat(kept.collectAsList())
        .extracting(row -> row.getString(1))
        .containsExactly("a.png", "z.jpg");
    assertThat(LeftOutFiles.of(kept.where("path <> 'x'").select("image")))
        .containsExactly(
            "claim.jpg",
            "cmyk.jpg",
            "cuta.png",
            "cutz.jpg",
            "empty.png",
            "enda.png",
            "endz.jpg",
            "gif.png",
            "text.jpg",
            "vast.png",
            "wide.png");
    assertThat(StoredRecords.of(kept.select("image"), 2).values().get("image"))
        .hasSize(2 * 40 * 40 * 3);
    assertThat(LeftOutFiles.of(read("png"))).isEmpty();
    assertThatThrownBy(() -> read("broken/cmyk.jpg", "broken", "drop"))
        .hasMessageContaining("is left out by the options");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "claim.jpg | claim.jpg: broken image: truncated: 16383 x 16383 pixels do not fit into",
        "cmyk.jpg  | cmyk.jpg: broken image: colours of JPEG other than grey and RGB",
        "cuta.png  | cuta.png: broken image: cannot be decoded",
        "cutz.jpg  | cutz.jpg: broken image: ",
        "enda.png  | enda.png: broken image: cannot be decoded",
        "endz.jpg  | endz.jpg: broken image: ",
        "empty.png | empty.png: broken image: the file is empty",
        "gif.png   | gif.png: broken image: neither JPEG nor PNG",
        "text.jpg  | text.jpg: broken image: neither JPEG nor PNG",
        "vast.png  | vast.png: broken image: 2147483647 x 2147483647 pixels are above the limit",
        "wide.png  | wide.png: picture of 1 x 268435456 pixels: needs ",
      })
  void namesABrokenImage(String file, String message) {
    Dataset<Row> planned = read("broken/" + file, "size", "8,8");

    assertThat(planned.count()).isEqualTo(1);
    assertThatThrownBy(planned::collect).hasStackTraceContaining(message);
    assertThat(read("broken/a.png").collectAsList()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "size     | 8    | not a height and a width such as 224,224",
        "size     | 8,0  | not a shape such as 64,64",
        "mode     | crop | but needs option `size`, such as 224,224",
        "channels | 2    | legal values: 1, 3, 4",
        "broken   | skip | legal values: error, drop",
        "label    | yes  | legal values: name, index, none",
      })
  void refusesIllegalOptions(String key, String value, String message) {
    assertThatThrownBy(() -> read("tree", key, value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("option \"%s\" is \"%s\"".formatted(key, value))
        .hasMessageContaining(message.replace('`', '"'));
  }

  /** Cameras begin names of photographs in Adobe RGB with an underscore. */
  @Test
  void readsPhotographsWhateverTheirNamesAndTellsWhatElseIsThere() {
    Dataset<Row> photos = read("photos");

    assertThat(photos.collectAsList())
        .extracting(row -> row.getString(1))
        .containsExactly("IMG_1.JPG", "_DSC2.JPG", "a.jfif", "b.jpe");
    assertThat(LeftOutFiles.of(photos)).containsExactly(".hidden.jpg", "_old/", "c.webp");
  }

  @Test
  void cutsOutOfAnImageThatIsTooLargeAsAWhole() {
    byte[] samples =
        (byte[]) read("strip.png", "size", "2200,8", "mode", "fit", "channels", "1").head().get(0);

    assertThat(samples).hasSize(2200 * 8).containsOnly(0xFF);
  }

  @Test
  void asksForASizeIfImagesHaveDifferentOnes() {
    assertThatThrownBy(() -> read("tree"))
        .hasMessageContaining("03.png: is uint8[100,101,3], but")
        .hasMessageContaining("01.png is uint8[64,20,3]: set option \"size\", such as 224,224");
  }

  @Test
  void refusesToCutOutOfSmallerImages() {
    for (String broken : List.of("error", "drop")) {
      assertThatThrownBy(
              () -> read("small.png", "size", "6,6", "mode", "crop", "broken", broken).collect())
          .hasStackTraceContaining(
              "small.png: 5 x 7 pixels are fewer than the 6 x 6 to be cut out");
    }
  }
}
