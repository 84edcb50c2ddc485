# SPDX-License-Identifier: Apache-2.0
"""Writes groups of zarr. Follows functions.py."""
import zarr
def finish(a, path, **options):
    a.layers['counts'] = sp.csr_matrix(numbers(a.n_obs, a.n_vars, 'i4'))
    a.obsm['X_pca'] = rng.normal(size=(a.n_obs, 5)).astype('f4')
    a.write_zarr(path, **options); dump(path, ad.read_zarr(path))
x = numbers(157, 19, 'f4')
finish(make(157, x), 'dense.zarr', chunks=(20, 7)); finish(make(157, sp.csr_matrix(x)), 'csr.zarr')
# attributes as R writes them: lists of one text
import glob, shutil; shutil.copytree('csr.zarr', 'r.zarr')
for p in glob.glob('r.zarr/**/.zattrs', recursive=True) + ['r.zarr/.zattrs']:
    attrs = {k: [v] if isinstance(v, str) else v for k, v in json.load(open(p)).items()}; json.dump(attrs, open(p, 'w'))
os.mkdir('both'); parts = []
for i, genes in enumerate(['bdac', 'acxb']):
    part = make(40, sp.csr_matrix(numbers(40, 4, 'f4')), list(genes)); parts.append(part)
    part.write_zarr('both/%d.zarr' % i)
whole = ad.concat(parts, join='inner'); whole.X.sort_indices(); dump('both_inner', whole)
make(9, numbers(9, 4, 'f4')).write_zarr('no_x.zarr'); del zarr.open('no_x.zarr')['X']
csc = make(9, sp.csc_matrix(numbers(9, 4, 'f4'))); csc.write_zarr('csc.zarr')
zarr.open('plain.zarr', 'w').create_dataset('x', data=np.arange(5))
# as AnnData 0.7 wrote it: no encoding at the root, categories beside the columns
import numcodecs, shutil
shutil.copytree('dense.zarr', 'old.zarr'); old = zarr.open('old.zarr')
for k in list(old.attrs): del old.attrs[k]
for c in ['cell_type', 'tissue', 'plate']:
    codes = old['obs'][c]['codes'][:]; names = old['obs'][c]['categories'][:]; del old['obs'][c]
    texts = dict(object_codec=numcodecs.VLenUTF8()) if names.dtype == object else {}
    old['obs'].require_group('__categories').array(c, names, **texts)
    old['obs'].array(c, codes).attrs['categories'] = '__categories/' + c
# names and links that lead out
shutil.copytree('no_x.zarr', 'leads_out.zarr')
zarr.open('leads_out.zarr')['obs'].attrs['column-order'] = ['../../plain.zarr/x']
shutil.copytree('dense.zarr', 'symbolic.zarr'); os.mkdir('outside'); shutil.move('symbolic.zarr/X', 'outside/X')
os.symlink(os.path.abspath('outside/X'), 'symbolic.zarr/X')
