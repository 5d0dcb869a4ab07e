// SPDX-License-Identifier: GPL-3.0-or-later
extern "C" __device__ __noinline__ float helper(float x, int n){ float a[32]; for(int i=0;i<32;i++) a[i]=x*i; return a[n&31]; }
extern "C" __global__ void plain(float*p){ p[threadIdx.x]*=2.f; }
extern "C" __global__ void __launch_bounds__(256) smem4000(float*p,int n){ __shared__ float s[1000]; s[threadIdx.x]=p[n+threadIdx.x]; __syncthreads(); p[threadIdx.x]=s[n&255]; }
extern "C" __global__ void smem1024(float*p,int n){ __shared__ float s[256]; s[threadIdx.x]=p[n+threadIdx.x]; __syncthreads(); p[threadIdx.x]=s[n&255]; }
extern "C" __global__ void calls(float*p,int n){ p[threadIdx.x]=helper(p[threadIdx.x],n); }
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2,1,1) clustered(float*p){ p[threadIdx.x]*=2.f; }
#endif
#ifdef BIG
extern "C" __global__ void toobig(float*p,int n){ __shared__ float s[20000]; s[threadIdx.x]=p[n+threadIdx.x]; __syncthreads(); p[threadIdx.x]=s[n&255]; }
#endif
