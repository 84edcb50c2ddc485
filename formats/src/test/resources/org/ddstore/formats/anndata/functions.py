# SPDX-License-Identifier: Apache-2.0
"""Functions of all scripts: dump(path) reads a file by AnnData and writes its matrices as
little-endian bytes, and all else as JSON."""
import warnings; warnings.filterwarnings('ignore')
import anndata as ad, numpy as np, pandas as pd, scipy.sparse as sp, h5py, json, os
rng = np.random.default_rng(11)

def table(n):
    kinds = np.array(['B cell', 'NK', 'T cell', '\u00b5-glia'])
    tissue = pd.Categorical.from_codes(rng.integers(-1, 3, n), ['lung', 'liver', ''])
    age = pd.array(rng.integers(0, 90, n), dtype='Int64'); age[rng.random(n) < .3] = pd.NA
    flag = pd.array(rng.random(n) < .5, dtype='boolean'); flag[rng.random(n) < .3] = pd.NA
    return pd.DataFrame({
        'cell_type': pd.Categorical(kinds[np.minimum(rng.geometric(.5, n) - 1, 3)], categories=kinds),
        'tissue': tissue, 'barcode': ['code \u00e9 %d' % i for i in range(n)],
        'plate': pd.Categorical(rng.integers(7, 10, n)),
        'n_genes': rng.integers(-2**40, 2**40, n), 'small': rng.integers(-99, 99, n).astype(np.int8),
        'reads': rng.integers(0, 65536, n).astype(np.uint16), 'score': rng.normal(size=n).astype(np.float32),
        'depth': rng.normal(size=n), 'is_test': rng.random(n) < .5, 'age': age, 'flag': flag},
        index=['cell%d' % i for i in range(n)])

def numbers(n, g, dtype, density=.3):
    x = rng.integers(1, 100, (n, g)) * (rng.random((n, g)) < density)
    if np.dtype(dtype).kind == 'f': x = x / 7
    return x.astype(dtype)

def make(n, x, genes=None):
    genes = genes or ['gene%d' % i for i in range(x.shape[1])]
    return ad.AnnData(X=x, obs=table(n), var=pd.DataFrame(index=genes), dtype=x.dtype)

def plain(v):
    if v is None or v is pd.NA or (isinstance(v, float) and v != v): return None
    return v.item() if hasattr(v, 'item') else v

def matrix(m, path):
    if sp.issparse(m):
        m = m.tocsr()
        m.indices.astype('<i4').tofile(path + '.indices'); m.indptr.astype('<i8').tofile(path + '.indptr')
        m.data.astype(m.data.dtype.newbyteorder('<')).tofile(path + '.data'); m = m.toarray()
    m = np.ascontiguousarray(m)
    m.astype(m.dtype.newbyteorder('<')).tofile(path + '.dense')

def dump(path, a=None):
    a = ad.read_h5ad(path) if a is None else a
    if a.X is not None: matrix(a.X, path + '.X')
    for k in a.layers: matrix(a.layers[k], path + '.layers_' + k)
    for k in a.obsm: matrix(a.obsm[k], path + '.obsm_' + k)
    out = {'genes': list(a.var_names), 'obs_name': list(a.obs_names)}
    for c in a.obs.columns:
        v = a.obs[c]
        out[c] = [plain(x) for x in v]
        if hasattr(v, 'cat'): out[c + '.codes'] = [int(x) for x in v.cat.codes]
        if hasattr(v, 'cat'): out[c + '.categories'] = [str(x) for x in v.cat.categories]
    json.dump(out, open(path + '.json', 'w'))
